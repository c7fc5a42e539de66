import Core
import Rights
import Sessions
import Traces

/// The sessions that a question is about.
struct SessionFilter {
    /// The user whose sessions match; `nil`: those of every caller.
    let user: [UInt8]?
    private let address: IPAddress?
    private let topic: Topic?
    /// Whether only sessions with waiting bytes match.
    let isBehind: Bool
    /// Whether every session matches that has as many waiting bytes as it takes.
    var isOfAll: Bool { user == nil && address == nil && topic == nil }

    /// The filter of a question's parameters; `nil` when one of them is malformed, so that nothing matches.
    init?(_ question: FleetQuestion) {
        user = question.parameters[.user]
        address = question.parameters[.address].flatMap { IPAddress(text: $0) }
        topic = question.parameters[.topic].flatMap { Topic($0) }
        isBehind = question.kind == .slow
        guard (question.parameters[.address] == nil) == (address == nil),
            (question.parameters[.topic] == nil) == (topic == nil)
        else { return nil }
    }

    /// The sessions of the record that may match, all of which have ended.
    var ended: TraceSearch.Filter {
        TraceSearch.Filter(user: user, address: address, topic: topic, isClosedOnly: true)
    }

    /// Sessions to read from the record, of which ``matches(_:)`` keeps at most `limit` or few more.
    func endedMax(_ limit: Int) -> Int { isBehind ? SessionFilter.endedBehindMax : limit }

    /// Ended sessions among which those that were too slow are looked for.
    private static let endedBehindMax = 1_000

    /// Whether a session that has ended matches; only one that was too slow was behind.
    func matches(_ session: TracedSession) -> Bool { !isBehind || session.closed?.reason == .slowConsumer }

    /// Whether the session matches, however many bytes wait.
    func matches(_ session: Session) -> Bool {
        if let user {
            guard case .user(let identity) = session.caller, identity.user == user else { return false }
        }
        if let address, session.address != address { return false }
        return topic.map(session.hears) ?? true
    }
}
