public import Connections
public import Core

/// The part of a session that operators see, and its end by their hand.
extension Session {
    /// Its name among all nodes, `NODE.SHARD.NUMBER`; no other session ever has it.
    public var id: [UInt8] { services.address.id(ofSession: number) }

    /// The bytes that wait for the client.
    public var load: QueueLoad { output?.load ?? QueueLoad() }

    /// The name of the client's protocol.
    public var dialectName: String { output?.dialectName ?? "" }

    /// Shows the wire of the client's connection to a tap; other sessions of the connection are on it, too.
    public func show(to tap: WireTap) { output?.show(to: tap) }

    /// Ends the client's connection.
    public func close(_ reason: CloseReason) { output?.close(reason) }
}
