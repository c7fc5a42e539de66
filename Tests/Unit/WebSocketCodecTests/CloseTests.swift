import Core
import TestSupport
import Testing
import WebSocketCodec

/// Autobahn group 7: the closing handshake.
@Suite struct CloseTests {
    static let allowed: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ]
    static let refused: [UInt16] = [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ]

    @Test func `7.1.1 to 7.1.4: everything after a close is ignored`() {
        let close = Wire.close(1000)
        for late in [Wire.text("late"), close, Wire.ping("late"), [0xff, 0xff, 0xff], Wire.more("stray")] {
            expect(Wire.text("Hello") + close + late, gives: [.text("Hello"), .close(code: 1000, reason: [])])
        }
    }

    @Test func `7.1.5: a close inside an unfinished message ends with the normal code`() {
        expect(
            Wire.text("fragment1", fin: false) + Wire.close(1000) + Wire.more("fragment2"),
            gives: [.close(code: 1000, reason: [])])
        expect(Wire.text([0xce], fin: false) + Wire.close(1000), gives: [.close(code: 1000, reason: [])])
    }

    @Test func `7.1.6: a large message before the close is told first`() {
        let payload = [UInt8](repeating: 0x2a, count: 256 * 1024)
        let bytes = Wire.text(payload) + Wire.text("Hello World!") + Wire.close(1000) + Wire.ping()
        let events: [WebSocketEvent] = [.text(payload), .text("Hello World!"), .close(code: 1000, reason: [])]
        #expect(decode([bytes]) == events)
        #expect(decode(Seeded.cuts(bytes, seed: 71)) == events)
    }

    @Test func `7.3.1: an empty close has no code`() {
        expect(Wire.frame(0x8), gives: [.close(code: nil, reason: [])])
    }

    @Test func `7.3.2: a close body of one byte fails`() {
        expect(Wire.frame(0x8, [0x03]), gives: [.failed(.closeBodyTooShort)])
    }

    @Test func `7.3.3 to 7.3.5: code and reason come out, up to 123 bytes`() {
        expect(Wire.close(1000), gives: [.close(code: 1000, reason: [])])
        let words = Array("Hello World!".utf8)
        expect(Wire.close(1000, words), gives: [.close(code: 1000, reason: words)])
        let longest = [UInt8](repeating: 0x2a, count: 123)
        expect(Wire.close(1000, longest), gives: [.close(code: 1000, reason: longest)])
    }

    @Test func `7.3.6: a close body of 126 bytes fails`() {
        expect(Wire.close(1000, [UInt8](repeating: 0x2a, count: 124)), gives: [.failed(.controlTooLong)])
    }

    @Test func `7.5.1: a reason that is not UTF-8 fails with 1007`() {
        for reason: [UInt8] in [[0xce, 0xba, 0xed, 0xa0, 0x80, 0x65], [0xff], [0x61, 0xc3]] {
            expect(Wire.close(1000, reason), gives: [.failed(.closeReasonInvalidText)])
        }
        #expect(WebSocketFailure.closeReasonInvalidText.closeReason.webSocketCode == 1007)
    }

    @Test(arguments: allowed)
    func `7.7: codes that may be sent are taken`(code: UInt16) {
        expect(Wire.close(code), gives: [.close(code: code, reason: [])])
        expect(Wire.close(code, [0x61]), gives: [.close(code: code, reason: [0x61])])
    }

    @Test(arguments: refused)
    func `7.9, 7.13: codes that must not be sent fail with 1002`(code: UInt16) {
        expect(Wire.close(code), gives: [.failed(.closeCodeInvalid)])
        expect(Wire.close(code, [0xff]), gives: [.failed(.closeCodeInvalid)])
        #expect(WebSocketFailure.closeCodeInvalid.closeReason.webSocketCode == 1002)
    }

    @Test func `7.x: of all 65536 codes exactly the registered and private ones are allowed`() {
        let allowed = (0...UInt16.max).filter(WebSocketCloseCode.isAllowed)
        #expect(allowed == [1000, 1001, 1002, 1003] + Array(1007...1014) + Array(3000...4999))
    }

    @Test(arguments: WebSocketFailure.allCases)
    func `7.x: every failure has a close code and a sentence that fits`(failure: WebSocketFailure) throws {
        let code = try #require(failure.closeReason.webSocketCode)
        #expect([1002, 1007, 1008, 1009].contains(code))
        let body = WebSocketEncoder.closeBody(code: code, reason: failure.explanation)
        #expect(Array(body.dropFirst(2)) == Array(failure.explanation.utf8))
        #expect(failure.explanation.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func `7.x: an ended decoder stays ended and holds nothing`() {
        for last in [Wire.close(1001), Wire.frame(0x3)] {
            var decoder = WebSocketDecoder(role: .server, limits: wideLimits)
            let bytes = Wire.text("unfinished", fin: false) + last
            var position = 0
            #expect(!decoder.hasEnded)
            #expect(decoder.next(bytes.span, at: &position) != nil)
            #expect(decoder.hasEnded && decoder.bufferedBytes == 0)
            #expect(decoder.next(bytes.span, at: &position) == nil && position == bytes.count)
            position = 0
            #expect(decoder.next(bytes.span, at: &position) == nil && position == bytes.count)
        }
    }
}
