import Core
import Dialects
import Operations
public import Reactors
public import Sessions

/// The open transports of a shard, which a drain ends one after another.
///
/// Thread: the shard's.
public final class OpenTransports {
    private var transports: [any ClientTransport] = []
    /// The index of each in `transports`.
    private var places: [ObjectIdentifier: Int] = [:]
    private var drain: DrainPlan<ObjectIdentifier>?
    private let count: Counter

    /// Keeps `count` at the number of open transports.
    public init(count: Counter) {
        self.count = count
    }

    /// Whether none is open.
    public var isEmpty: Bool { transports.isEmpty }

    /// The sessions of all clients.
    public var sessions: [Session] { transports.flatMap { $0.peer?.sessions ?? [] } }

    /// The number of open transports: the place at which a walk over all begins.
    public var end: Int { transports.count }

    /// Visits the sessions of at most `count` transports below a place; returns the place at which the walk continues.
    public func visit(below place: Int, count: Int, _ visit: (Session) -> Void) -> Int {
        visitTransports(below: place, count: count) { $0.peer?.visitSessions(visit) }
    }

    /// Visits at most `count` transports below a place; returns the place at which the walk continues.
    ///
    /// A walk ends at 0. It goes downwards, since the last transport takes the place of one that ends. So none that
    /// stays is left out, and some may be visited twice.
    public func visitTransports(below place: Int, count: Int, _ visit: (any ClientTransport) -> Void) -> Int {
        let from = min(place, transports.count)
        let to = max(0, from - count)
        for place in stride(from: from - 1, through: to, by: -1) { visit(transports[place]) }
        return to
    }

    /// A transport was opened.
    func opened(_ transport: any ClientTransport, nowMs: Int) {
        let id = ObjectIdentifier(transport)
        if places[id] == nil {
            places[id] = transports.count
            transports.append(transport)
        }
        drain?.join(ObjectIdentifier(transport), nowMs: nowMs)
        count.set(transports.count)
    }

    /// A transport has ended.
    func ended(_ transport: any ClientTransport) {
        if let place = places.removeValue(forKey: ObjectIdentifier(transport)), let last = transports.popLast(),
            place < transports.count
        {
            transports[place] = last
            places[ObjectIdentifier(last)] = place
        }
        count.set(transports.count)
    }

    /// Plans the end of all transports within `overMs` milliseconds.
    public func beginDrain(nowMs: Int, overMs: Int) {
        var random = SystemRandomNumberGenerator()
        drain = DrainPlan(Array(places.keys), nowMs: nowMs, overMs: overMs, using: &random)
    }

    /// Notifies and closes the clients whose turn it is; true once all have had theirs.
    public func continueDrain(nowMs: Int) -> Bool {
        guard let step = drain?.step(nowMs: nowMs), let drain else { return false }
        for id in step.notified {
            transport(id)?.peer?.send(.draining(reconnectAfterMs: Int.random(in: 0...drain.hintMsMax)))
        }
        for id in step.closed { transport(id)?.close(.restart) }
        return drain.isOver
    }

    private func transport(_ id: ObjectIdentifier) -> (any ClientTransport)? { places[id].map { transports[$0] } }
}
