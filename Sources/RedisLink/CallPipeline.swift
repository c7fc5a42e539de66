import Core

/// The calls in flight on one connection, oldest first.
///
/// RESP2 replies carry no identity: the n-th reply belongs to the n-th call. So a call that misses its deadline is
/// given up but keeps its place. ``expire(nowMs:)`` returns its context, and its late reply is dropped. Until then it
/// counts as in flight, so a connection never awaits more than `inFlightMax` replies.
///
/// Only a connection that has brought nothing for long is doubtful, and is closed: see ``quietSinceMs``.
///
/// Pure: time is a parameter, monotonic milliseconds.
public struct CallPipeline<Context> {
    /// The call that a reply belongs to.
    public enum Receiver {
        /// A call that still waits for the reply.
        case waiting(Context)
        /// A call that was given up.
        case abandoned
    }

    fileprivate struct Entry {
        /// `nil` once the call was given up.
        var context: Context?
        let deadlineMs: Int
        let sequence: UInt64
    }

    /// A deadline that no later call undercuts.
    private struct Due {
        let deadlineMs: Int
        let sequence: UInt64
    }

    private var entries = Ring<Entry>()
    /// The front has the earliest deadline of all calls: an entry is dropped when a later call has an earlier deadline.
    private var dues = Ring<Due>()
    private var sequence: UInt64 = 0
    private let inFlightMax: Int
    private var quietMs = 0

    /// Makes a pipeline that holds at most `inFlightMax` calls.
    public init(inFlightMax: Int) {
        self.inFlightMax = inFlightMax
    }

    /// The number of awaited replies, those to abandoned calls included.
    public var count: Int { entries.count }

    /// The time of the last reply, or of the first awaited call after that; `nil` while no reply is awaited.
    public var quietSinceMs: Int? { entries.isEmpty ? nil : quietMs }

    /// Adds a call that is about to be sent; returns `false` when the pipeline is full and the call must not be sent.
    ///
    /// `deadlineMs` is absolute. *Complexity*: amortised constant, no allocation once warm.
    public mutating func add(_ context: Context, deadlineMs: Int, nowMs: Int) -> Bool {
        guard entries.count < inFlightMax else { return false }
        if entries.isEmpty { quietMs = nowMs }
        sequence &+= 1
        entries.append(Entry(context: context, deadlineMs: deadlineMs, sequence: sequence))
        note(deadlineMs, sequence)
        return true
    }

    private mutating func note(_ deadlineMs: Int, _ sequence: UInt64) {
        while let due = dues.last, due.deadlineMs >= deadlineMs { _ = dues.popLast() }
        dues.append(Due(deadlineMs: deadlineMs, sequence: sequence))
    }

    /// Takes the call that a reply belongs to; `nil` when none is in flight, which is a protocol violation of the
    /// server.
    public mutating func replied(nowMs: Int) -> Receiver? {
        guard let entry = entries.popFirst() else { return nil }
        quietMs = nowMs
        if dues.first?.sequence == entry.sequence { _ = dues.popFirst() }
        return entry.context.map { .waiting($0) } ?? .abandoned
    }

    /// The earliest deadline of all waiting calls, for the driver's timer.
    public var nextDeadlineMs: Int? { dues.first?.deadlineMs }

    /// Gives up every call that has reached its deadline, and returns their contexts, oldest first.
    ///
    /// *Complexity*: constant when there is none, otherwise linear in the calls in flight.
    public mutating func expire(nowMs: Int) -> [Context] {
        guard let next = nextDeadlineMs, next <= nowMs else { return [] }
        var expired: [Context] = []
        dues.removeAll()
        for _ in 0..<entries.count {
            guard var entry = entries.popFirst() else { break }
            if let context = entry.context {
                if entry.deadlineMs <= nowMs {
                    expired.append(context)
                    entry.context = nil
                } else {
                    note(entry.deadlineMs, entry.sequence)
                }
            }
            entries.append(entry)
        }
        return expired
    }

    /// Takes every waiting call, oldest first, after the connection was lost.
    public mutating func drain() -> [Context] {
        var contexts: [Context] = []
        contexts.reserveCapacity(entries.count)
        while let entry = entries.popFirst() {
            if let context = entry.context { contexts.append(context) }
        }
        dues.removeAll()
        return contexts
    }
}

extension CallPipeline: Sendable where Context: Sendable {}
extension CallPipeline.Entry: Sendable where Context: Sendable {}
extension CallPipeline.Receiver: Sendable where Context: Sendable {}
