public import Connections
public import Core
public import Dialects
import Operations
import Reactors
import Service
public import Sessions
public import Topics

/// A transport that uses one connection from its beginning to its end.
///
/// The connection knows whether it has ended. Thread: the shard's.
public protocol ConnectionTransport: ConnectionHandler, ClientTransport {
    /// The services that it shares with the other transports of its shard.
    var context: TransportContext { get }
    /// The client's connection, also after its end.
    var connection: Connection { get }
}

extension ConnectionTransport {
    /// The address of the connection's peer, or the one that a trusted proxy reports.
    public var address: IPAddress? { connection.address }

    /// Does nothing: the connection was open before it was handed over.
    public func opened(_ connection: Connection) {}

    /// The bytes that wait for the client.
    public var load: QueueLoad { connection.load }

    /// The client's connection.
    public var eventConnection: Connection? { connection }

    /// The items of the connection's queue.
    public var waitingItems: [OutboundItem] { connection.waitingItems }

    /// The first item of the connection's queue that matches.
    public func firstWaiting(where matches: (OutboundItem) -> Bool) -> OutboundItem? {
        connection.firstWaiting(where: matches)
    }

    /// Frames the unit; a client whose queue has no room for it is closed.
    public func send(_ unit: WireUnit) {
        transmit(framing.frame([unit]))
    }

    /// Queues the event's shared bytes; an event that the dialect cannot express is only counted.
    public func send(_ delivery: Delivery, _ encoding: Encoding, own: EventDecoration?, isBacklog: Bool) -> Bool {
        var frame = delivery.frame(encoding, isBacklog: isBacklog)
        if frame.isEmpty {
            context.undeliverable(delivery)
            return true
        }
        if let own { frame = own.frame(frame, framing) }
        return connection.send(frame, item: delivery, isBacklog: isBacklog) || !connection.isOpen
    }

    /// Logs an end that is not the usual one; called while the peer still exists.
    func logEnd(_ reason: CloseReason) {
        context.logAccess(connection, framing == .eventStream ? .eventStream : .websocket, reason, by: peer)
        context.logEnd(reason, of: peer, at: address, bytesUnsent: connection.bytesUnsent)
    }

    /// Takes the connection out of the counts of unauthenticated ones.
    public func established() {
        connection.markEstablished()
    }

    /// Sends bytes of the transport itself; a client whose queue has no room for them is closed.
    func transmit(_ bytes: [UInt8]) {
        if !connection.send(bytes) && connection.isOpen { close(.slowConsumer) }
    }

    /// Thins the queue as namespaces allow; otherwise closes the client as a slow consumer.
    public func readTooSlowly(_ bound: OutboundBound) -> Bool {
        guard connection.isOpen else { return false }
        if bound != .stuck, thin(bound) { return true }
        close(.slowConsumer)
        return false
    }

    private func thin(_ bound: OutboundBound) -> Bool {
        guard let peer else { return false }
        var conflation = SlowConsumerConflation(
            connection, access: context.access, limits: context.limits, nowMs: context.clock.nowMs
        ) { peer.encoding(of: $0) }
        let isEnough = conflation.thin(bound)
        context.statistics.conflationGaps.add(conflation.gaps)
        peer.conflated(conflation.replaced)
        return isEnough
    }
}
