/// The first messages on a WebSocket to which a polling session is to move; pure.
///
/// The client sends `2probe` and then moves with `5`. Neither side may send anything else before: some clients read
/// exactly one message.
public struct EngineProbe: Equatable, Sendable {
    /// The action that a message of the client causes.
    public enum Step: Equatable, Sendable {
        /// Send this.
        case answer([UInt8])
        /// The session moves here.
        case move
        /// The WebSocket is closed, and the session continues with polling.
        case refuse
    }

    private var isAnswered = false

    /// A probe before its first message.
    public init() {}

    /// The client sent a message.
    public mutating func received(_ message: [UInt8], as kind: MessageKind) -> Step {
        guard let packet = EnginePacket(message: message, as: kind) else { return .refuse }
        if !isAnswered, packet.kind == .ping, packet.payload.elementsEqual("probe".utf8) {
            isAnswered = true
            return .answer([EnginePacket.Kind.pong.rawValue] + packet.payload)
        }
        return isAnswered && packet.kind == .upgrade ? .move : .refuse
    }
}
