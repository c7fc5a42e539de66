import Core
import Rights
import Sessions

/// The sessions that a question is about.
struct SessionFilter {
    private let user: [UInt8]?
    private let address: IPAddress?
    private let topic: Topic?
    /// Whether only sessions with waiting bytes match.
    private let isBehind: Bool

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

    /// Whether the session, of which so many bytes wait, matches.
    func matches(_ session: Session, bytes: Int) -> Bool {
        if isBehind, bytes == 0 { return false }
        if let user {
            guard case .user(let identity) = session.caller, identity.user == user else { return false }
        }
        if let address, session.address != address { return false }
        return topic.map(session.hears) ?? true
    }
}
