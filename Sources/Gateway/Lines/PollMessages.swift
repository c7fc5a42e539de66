import Transport
import WebSocketCodec

/// The answer to one request of a session that polls.
enum PollAnswer: Equatable, Sendable {
    /// Packets for the client.
    case packets([UInt8])
    /// What the client sent was taken.
    case taken
    /// A packet, or all of them together, is too large.
    case tooLarge
    /// The node cannot take it now.
    case busy
    /// The request is refused.
    case fault(EngineRequest.Fault)
}

/// A request for a session that lives on another shard.
struct PollRequest: Sendable {
    /// Who wants the answer.
    let asker: Int
    /// Which of the asker's requests it is.
    let number: Int
    /// The session.
    let session: [UInt8]
    /// What the client sends; `nil` when it fetches.
    let body: [UInt8]?
}

/// A WebSocket to which a session of another shard is to move.
struct MovingUpgrade: Sendable {
    /// The session.
    let session: [UInt8]
    /// The client's connection, whose upgrade is not answered yet.
    let connection: MovingConnection
    /// The answer that opens the WebSocket.
    let answer: [UInt8]
    /// What the answer agrees on.
    let deflate: DeflateAgreement?
}
