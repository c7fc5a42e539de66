import Core

/// The calls in flight on one connection, oldest first.
///
/// RESP2 replies carry no identity: the n-th reply belongs to the n-th call. So a call that missed its deadline
/// cannot be given up alone, since its late reply would be taken for the next one's: once ``expired(nowMs:)`` is true
/// the driver closes the connection and fails everything ``drain()`` returns.
public struct CallPipeline<Context> {
    fileprivate struct Entry {
        let context: Context
        let sequence: UInt64
    }

    /// A deadline that no later call undercuts.
    private struct Due {
        let deadlineMs: Int
        let sequence: UInt64
    }

    private var entries = Ring<Entry>()
    /// The minimum of all deadlines is at the front: a deadline leaves when a later call has an earlier one.
    private var dues = Ring<Due>()
    private var sequence: UInt64 = 0
    private let inFlightMax: Int

    /// Makes a pipeline that holds at most `inFlightMax` calls.
    public init(inFlightMax: Int) {
        self.inFlightMax = inFlightMax
    }

    /// How many calls wait for a reply.
    public var count: Int { entries.count }

    /// Notes a call about to be sent; false when the pipeline is full, and the call must not be sent.
    ///
    /// `deadlineMs` is absolute, on the clock of ``expired(nowMs:)``. *Complexity*: amortised constant, no allocation
    /// once warm.
    public mutating func add(_ context: Context, deadlineMs: Int) -> Bool {
        guard entries.count < inFlightMax else { return false }
        sequence &+= 1
        entries.append(Entry(context: context, sequence: sequence))
        while let due = dues.last, due.deadlineMs >= deadlineMs { _ = dues.popLast() }
        dues.append(Due(deadlineMs: deadlineMs, sequence: sequence))
        return true
    }

    /// Takes the call the reply that just came belongs to; `nil` when none is in flight, which is a protocol
    /// violation of the server.
    public mutating func replied() -> Context? {
        guard let entry = entries.popFirst() else { return nil }
        if dues.first?.sequence == entry.sequence { _ = dues.popFirst() }
        return entry.context
    }

    /// The earliest deadline of all calls in flight, for the driver's timer.
    public var nextDeadlineMs: Int? { dues.first?.deadlineMs }

    /// Whether a call has reached its deadline without a reply; the connection is then lost.
    public func expired(nowMs: Int) -> Bool {
        guard let next = nextDeadlineMs else { return false }
        return next <= nowMs
    }

    /// Takes every call in flight, oldest first, when the connection is gone.
    public mutating func drain() -> [Context] {
        var contexts: [Context] = []
        contexts.reserveCapacity(entries.count)
        while let entry = entries.popFirst() { contexts.append(entry.context) }
        dues.removeAll()
        return contexts
    }
}

extension CallPipeline: Sendable where Context: Sendable {}
extension CallPipeline.Entry: Sendable where Context: Sendable {}
