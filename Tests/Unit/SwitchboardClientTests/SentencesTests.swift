import Foundation
import Testing

@testable import SwitchboardClient

/// Sentences for people, and lines for logs.
struct SentencesTests {
    private static let codes: [SwitchboardError.Code] = [
        .timeout, .cancelled, .stopped, .offline, .expired, .uncertain, .undecodable, .unauthorized, .tooLarge,
        .storage, .server("forbidden"), .server("not_found"), .server("conflict"), .server("rate_limited"),
        .server("too_large"), .server("unauthorized"), .server("unavailable"), .server("internal"),
        .server("bad_request"), .server("of_a_script"),
    ]

    /// An app showed the name of the type and a number.
    @Test("each error has a sentence for people as its localized description", arguments: codes)
    func errors(_ code: SwitchboardError.Code) throws {
        let error: any Error = SwitchboardError(code, "")
        let texts = [
            error.localizedDescription, SwitchboardError(code).failureReason, SwitchboardError(code).recoverySuggestion,
        ]
        for text in texts.compactMap({ $0 }) { #expect(SentencesTests.isSentence(text), "\(text)") }
        #expect(!error.localizedDescription.contains("SwitchboardError"))
    }

    @Test("a script's own text is its sentence, and the gateway's text is the reason")
    func server() {
        #expect(SwitchboardError(.server("not_present"), "Come in first.").localizedDescription == "Come in first.")
        #expect(SwitchboardError(.server("forbidden"), "a role is missing").failureReason == "a role is missing")
    }

    @Test("each reason for a missing connection has a sentence for people, and one for developers")
    func reasons() {
        let codes = ConnectionStatus.Reason.Code.ofDials.union(ConnectionStatus.Reason.Code.permanent)
            .union([.unavailable, .lost, .closed, .tokenSource, .init(rawValue: "of_a_later_version")])
        for code in codes {
            let reason = ConnectionStatus.Reason(code, "The port is shut.")
            #expect(SentencesTests.isSentence(reason.localizedDescription))
            #expect(reason.recoverySuggestion.map(SentencesTests.isSentence) == true)
            #expect(reason.failureReason == "\(code.rawValue): The port is shut.")
        }
    }

    private static func isSentence(_ text: String) -> Bool {
        text.first?.isUppercase == true && text.last == "." && !text.contains("_") && text.count < 120
    }

    /// `print(update)` wrote a page of nested types.
    @Test("updates, errors and the status are lines that a developer can read")
    func lines() {
        let place = TopicPosition(epoch: "k3", offset: 12)
        let event = TopicEvent(topic: "dj:1", name: "track:added", data: ["name": "b"], position: place)
        #expect(TopicUpdate.event(event).description == #"event dj:1 track:added {"name":"b"} at k3/12"#)
        #expect(
            TopicUpdate.live(state: ["n": 1], recovered: true, position: place).description
                == #"live again at k3/12, state {"n":1}"#)
        #expect(
            TopicUpdate.gap(TopicGap(reason: .reset, missed: 1, position: nil)).description
                == "gap: 1 event missing (reset)")
        let error = SwitchboardError(.server("unavailable"), "Later.")
        #expect(TopicUpdate.pending(error).description == "pending: unavailable: Later.")
        #expect(TopicUpdate.pending(nil).description == "pending" && "\(SwitchboardError(.tooLarge))" == "too_large")
        var status = ConnectionStatus()
        (status.phase, status.reason) = (.waiting, ConnectionStatus.Reason(.lost, "The connection was lost."))
        #expect(status.description == "waiting: lost: The connection was lost.")
    }
}
