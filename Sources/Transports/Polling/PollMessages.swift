import Connections
import WebSocketCodec

/// The answer to one request of a session that polls.
public enum PollAnswer: Equatable, Sendable {
    /// Packets for the client.
    case packets([UInt8])
    /// The packets of the client were accepted.
    case taken
    /// A packet, or all of them together, is too large.
    case tooLarge
    /// The node cannot process it now.
    case busy
    /// The request is refused.
    case fault(EngineRequest.Fault)
}

/// A message between two shards of a node about polling sessions, or of another node about those of one shard.
public enum PollingMessage: Sendable {
    /// A request for a session of the receiving shard.
    case request(PollRequest)
    /// The answer to a request passed to another shard.
    case answer(number: Int, PollAnswer)
    /// The client of a session of the receiving shard disconnected before it was answered.
    case abandoned([UInt8])
    /// A WebSocket for a session of the receiving shard was opened on another shard.
    case upgrade(MovingUpgrade)
    /// A shard has ended: requests passed to it are not answered.
    case ended(shard: Int)
    /// Another node relays a message about a session.
    case relay([UInt8])
    /// The secret of the nodes of this Redis.
    case secret([UInt8])
}

/// A request for a session that lives on another shard.
public struct PollRequest: Sendable {
    /// The shard that receives the answer.
    let asker: Int
    /// The number of the request among the asker's.
    let number: Int
    /// The session.
    let session: [UInt8]
    /// The body that the client sends; `nil` when it fetches.
    let body: [UInt8]?
}

/// A WebSocket to which a session of another shard is to move.
public struct MovingUpgrade: Sendable {
    /// The session.
    let session: [UInt8]
    /// The client's connection, whose upgrade is not answered yet.
    let connection: MovingConnection
    /// The answer that opens the WebSocket.
    let answer: [UInt8]
    /// The compression that the answer agrees on.
    let deflate: DeflateAgreement?
}
