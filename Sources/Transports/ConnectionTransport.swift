public import Core
public import Dialects
import Operations
import Reactors
import Service
public import Sessions
public import Topics
public import Transport

/// A transport that uses one connection from its beginning to its end.
///
/// The connection knows whether it has ended. Thread: the shard's.
public protocol ConnectionTransport: ConnectionHandler, ClientTransport {
    var context: TransportContext { get }
    var connection: Connection { get }
}

extension ConnectionTransport {
    public var address: IPAddress? { connection.address }

    public func opened(_ connection: Connection) {}

    public func send(_ unit: WireUnit) {
        transmit(framing.frame([unit]))
    }

    public func send(_ delivery: Delivery, _ encoding: Encoding, own: EventDecoration?, isBacklog: Bool) -> Bool {
        // Bytes for a single client, such as a recovery, stay plain: deflating them for each of many reconnecting
        // clients is costly.
        var frame = delivery.frame(isBacklog || delivery.isForOne ? encoding.plain : encoding)
        if frame.isEmpty {
            context.undeliverable(delivery)
            return true
        }
        if let own { frame = own.frame(frame, framing) }
        return connection.send(frame, item: delivery, isBacklog: isBacklog) || !connection.isOpen
    }

    public func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool {
        guard let burst = batch.burst(encoding) else { return false }
        return connection.send(burst)
    }

    /// Logs an end that is not the usual one; called while the peer still exists.
    func logEnd(_ reason: CloseReason) {
        context.logAccess(connection, framing == .eventStream ? .eventStream : .websocket, reason, by: peer)
        context.logEnd(reason, of: peer, at: address, bytesUnsent: connection.bytesUnsent)
    }

    public func established() {
        connection.markEstablished()
    }

    /// Sends bytes of the transport itself; a client whose queue has no room for them is closed.
    func transmit(_ bytes: [UInt8]) {
        if !connection.send(bytes) && connection.isOpen { close(.slowConsumer) }
    }

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
        context.statistics.gaps.add(conflation.gaps)
        return isEnough
    }
}
