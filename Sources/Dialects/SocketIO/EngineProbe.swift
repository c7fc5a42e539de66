/// The first words on a WebSocket to which a session that polls is to move; pure.
///
/// The client asks `2probe` and then moves by `5`. Nothing else may be said by either side before: some clients read
/// exactly one message.
public struct EngineProbe: Equatable, Sendable {
    /// What a message of the client brings about.
    public enum Step: Equatable, Sendable {
        /// Say this.
        case answer([UInt8])
        /// The session moves here.
        case move
        /// The WebSocket is closed, and the session goes on polling.
        case refuse
    }

    private var isAnswered = false

    /// Nothing was said.
    public init() {}

    /// A message came.
    public mutating func received(_ message: [UInt8], as kind: MessageKind) -> Step {
        guard let packet = EnginePacket(message: message, as: kind) else { return .refuse }
        if !isAnswered, packet.kind == .ping, packet.payload.elementsEqual("probe".utf8) {
            isAnswered = true
            return .answer([EnginePacket.Kind.pong.rawValue] + packet.payload)
        }
        return isAnswered && packet.kind == .upgrade ? .move : .refuse
    }
}
