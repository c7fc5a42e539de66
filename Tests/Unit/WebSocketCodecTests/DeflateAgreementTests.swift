import Testing
import WebSocketCodec

/// The negotiation of `permessage-deflate` (RFC 7692 sections 5 and 7.1).
@Suite struct DeflateAgreementTests {
    private static let forgetting = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    private func answer(_ lines: String...) -> String? {
        DeflateAgreement(offered: lines.map { Array($0.utf8) })?.answer
    }

    @Test(arguments: [
        "permessage-deflate",
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=8",
        "permessage-deflate; client_max_window_bits=\"15\"",
        "permessage-deflate; server_no_context_takeover",
        "permessage-deflate; client_no_context_takeover",
        "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_no_context_takeover",
        "  permessage-deflate ;\tclient_max_window_bits  ",
    ])
    func anOfferWithoutAWindowIsAnsweredWithoutOne(_ offer: String) {
        #expect(answer(offer) == Self.forgetting)
        #expect(DeflateAgreement(offered: [Array(offer.utf8)])?.window == .wide)
    }

    @Test(arguments: 9...15)
    func theServersWindowIsNeverWiderThanAsked(_ bits: Int) throws {
        let offer = "permessage-deflate; server_max_window_bits=\(bits)"
        let agreement = try #require(DeflateAgreement(offered: [Array(offer.utf8)]))
        #expect(agreement.window.rawValue <= bits)
        #expect(agreement.answer == Self.forgetting + "; server_max_window_bits=\(agreement.window.rawValue)")
        #expect(agreement.window == (bits == 15 ? .wide : .narrow))
    }

    @Test func aQuotedWindowIsAWindow() {
        #expect(
            answer("permessage-deflate; server_max_window_bits=\"10\"")
                == Self.forgetting + "; server_max_window_bits=9")
    }

    @Test(arguments: [
        "", ";", ",", "=", "permessage-deflate;", "permessage-deflate; ;", "permessage-deflate =",
        "x-webkit-deflate-frame", "permessage-bzip2", "permessage-deflate2", "Permessage-Deflate",
        "permessage-deflate; unknown", "permessage-deflate; unknown=1",
        "permessage-deflate; client_max_window_bits; client_max_window_bits",
        "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=true",
        "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=",
        "permessage-deflate; server_max_window_bits=\"\"", "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=09",
        "permessage-deflate; server_max_window_bits=+9", "permessage-deflate; server_max_window_bits=9.0",
        "permessage-deflate; server_max_window_bits=99999999999999999999",
        "permessage-deflate; client_max_window_bits=7", "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=015", "permessage-deflate; client_max_window_bits=\"1 5\"",
        "permessage-deflate; client_max_window_bits=\"15", "permessage-deflate client_max_window_bits",
        "permessage-deflate; client_max_window_bits=15=15", "permessage-deflate\u{0}", "permessage-deflate; \u{e9}",
        "permessage-bzip2; x=\"a, permessage-deflate\"",
    ])
    func anOfferThatCannotBeAcceptedIsDeclined(_ offer: String) {
        #expect(answer(offer) == nil)
    }

    /// Starscream deflates its pongs and closes once its offer is accepted.
    @Test func theOfferOfAClientThatDeflatesControlFramesIsDeclined() {
        #expect(answer("permessage-deflate; client_max_window_bits; server_max_window_bits=15") == nil)
        #expect(answer("permessage-deflate; server_max_window_bits=15; client_max_window_bits") == nil)
        #expect(answer("permessage-deflate; client_max_window_bits=15; server_max_window_bits=15") != nil)
        #expect(answer("permessage-deflate; client_max_window_bits; server_max_window_bits=14") != nil)
        #expect(answer("permessage-deflate; server_max_window_bits=15") != nil)
    }

    @Test func theFirstAcceptableOfferIsTaken() {
        let narrow = Self.forgetting + "; server_max_window_bits=9"
        #expect(answer("permessage-deflate; server_max_window_bits=9, permessage-deflate") == narrow)
        #expect(answer("permessage-deflate, permessage-deflate; server_max_window_bits=9") == Self.forgetting)
        #expect(answer("x; a=\"b, \\\" c;\", permessage-deflate; server_max_window_bits=10") == narrow)
        #expect(
            answer(
                "permessage-deflate; server_max_window_bits=8, , mux", "permessage-deflate; y",
                "permessage-deflate; server_max_window_bits=9") == narrow)
    }

    @Test func withoutAnOfferThereIsNoAgreement() {
        #expect(DeflateAgreement(offered: []) == nil)
    }
}
