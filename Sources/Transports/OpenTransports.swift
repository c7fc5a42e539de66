import Core
import Dialects
import Operations
public import Reactors
public import Sessions

/// The open transports of a shard, which a drain ends one after another.
///
/// Thread: the shard's.
public final class OpenTransports {
    private var transports: [ObjectIdentifier: any ClientTransport] = [:]
    private var drain: DrainPlan<ObjectIdentifier>?
    private let count: Counter

    /// Keeps `count` at the number of open transports.
    public init(count: Counter) {
        self.count = count
    }

    /// Whether none is open.
    public var isEmpty: Bool { transports.isEmpty }

    /// The sessions of all clients.
    public var sessions: [Session] { transports.values.flatMap { $0.peer?.sessions ?? [] } }

    /// A transport was opened.
    func opened(_ transport: any ClientTransport, nowMs: Int) {
        transports[ObjectIdentifier(transport)] = transport
        drain?.join(ObjectIdentifier(transport), nowMs: nowMs)
        count.set(transports.count)
    }

    /// A transport has ended.
    func ended(_ transport: any ClientTransport) {
        transports[ObjectIdentifier(transport)] = nil
        count.set(transports.count)
    }

    /// Plans the end of all transports within `overMs` milliseconds.
    public func beginDrain(nowMs: Int, overMs: Int) {
        var random = SystemRandomNumberGenerator()
        drain = DrainPlan(Array(transports.keys), nowMs: nowMs, overMs: overMs, using: &random)
    }

    /// Notifies and closes the clients whose turn it is; true once all have had theirs.
    public func continueDrain(nowMs: Int) -> Bool {
        guard let step = drain?.step(nowMs: nowMs), let drain else { return false }
        for id in step.notified {
            transports[id]?.peer?.send(.draining(reconnectAfterMs: Int.random(in: 0...drain.hintMsMax)))
        }
        for id in step.closed { transports[id]?.close(.restart) }
        return drain.isOver
    }
}
