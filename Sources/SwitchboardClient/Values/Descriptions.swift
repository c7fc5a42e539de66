// Texts for `print` and for logs. Those of events and states contain their data; those of errors and of the connection
// contain neither tokens nor data.

extension SwitchboardError: CustomStringConvertible {
    /// The code and the message, for a log.
    public var description: String { message.isEmpty ? code.description : "\(code): \(message)" }
}

extension SwitchboardError.Code: CustomStringConvertible {
    /// The name of the code; for an error of the gateway the gateway's.
    public var description: String {
        switch self {
        case .server(let name): name
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .stopped: "stopped"
        case .offline: "offline"
        case .expired: "expired"
        case .uncertain: "uncertain"
        case .undecodable: "undecodable"
        case .unauthorized: "unauthorized"
        case .tooLarge: "too_large"
        case .storage: "storage"
        }
    }
}

extension ConnectionStatus: CustomStringConvertible {
    /// The step, and the reason why there is no connection.
    public var description: String { reason.map { "\(phase.rawValue): \($0)" } ?? phase.rawValue }
}

extension ConnectionStatus.Reason: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text.
    public var description: String { text }
}

extension TopicPosition: CustomStringConvertible {
    /// The epoch and the offset, such as `k3/12`.
    public var description: String { "\(epoch)/\(offset)" }
}

extension TopicEvent: CustomStringConvertible {
    /// The topic, the event's name, its data and its position.
    public var description: String { "\(topic) \(name) \(data)" + (position.map { " at \($0)" } ?? "") }
}

extension TopicGap: CustomStringConvertible {
    /// The number of missing events and the reason.
    public var description: String {
        let count = missed.map { $0 == 1 ? "1 event" : "\($0) events" } ?? "events"
        return "\(count) missing (\(reason.rawValue))"
    }
}

extension TopicMember: CustomStringConvertible {
    /// The user, or the key that the client chose.
    public var description: String { user ?? key }
}

extension TopicUpdate: CustomStringConvertible {
    /// One line: the kind of update, and its content.
    public var description: String {
        switch self {
        case .live(let state, let recovered, let position):
            "live" + (recovered ? " again" : "") + (position.map { " at \($0)" } ?? "")
                + (state.map { ", state \($0)" } ?? "")
        case .event(let event): "event \(event)"
        case .gap(let gap): "gap: \(gap)"
        case .pending(let error): "pending" + (error.map { ": \($0)" } ?? "")
        case .members(let members): "members: " + members.map(\.description).joined(separator: ", ")
        }
    }
}
