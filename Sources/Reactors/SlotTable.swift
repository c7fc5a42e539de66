/// The sources of a reactor by token, with their descriptors, interests, deadlines and marks.
///
/// Each query is one call, and so one access to the table, since a delivery needs several. Pure.
struct SlotTable {
    /// The pending phases of a source within a tick; a set.
    struct Marks: OptionSet {
        let rawValue: UInt8

        static let flush = Marks(rawValue: 1)
        static let readable = Marks(rawValue: 2)
        static let removed = Marks(rawValue: 4)
        static let late = Marks(rawValue: 8)
    }

    /// The consequence of a fired timer for its source.
    enum Firing {
        case due(any EventSource)
        /// The deadline was moved to this time; the wheel needs another entry.
        case later(Int)
        case nothing
    }

    /// The plain values of a slot; its source lies beside them, so that reading them counts no reference.
    private struct Slot {
        var isUsed = false
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
        var interest: Readiness = []
        var marks: Marks = []
        /// The time at which ``EventSource/deadlineReached()`` is called; `Int.max` for never.
        var deadlineMs = Int.max
        /// The time of the slot's earliest remaining wheel entry; a later deadline needs no second entry.
        var armedMs = Int.max
    }

    private var slots: [Slot] = []
    private var sources: [(any EventSource)?] = []
    private var freeSlots: [Int] = []

    /// The number of slots, in use or not.
    var count: Int { slots.count }

    /// The source in a slot, unless it is removed.
    func source(at index: Int) -> (any EventSource)? {
        slots[index].marks.contains(.removed) ? nil : sources[index]
    }

    /// The source of a token, unless it is removed.
    func source(_ token: EventToken) -> (any EventSource)? {
        index(of: token).flatMap { source(at: $0) }
    }

    private func index(of token: EventToken) -> Int? {
        let index = token.slot
        guard index < slots.count, slots[index].generation == token.generation, slots[index].isUsed else {
            return nil
        }
        return index
    }

    // MARK: Adding and freeing

    mutating func add(_ source: any EventSource) -> EventToken {
        let index = freeSlots.popLast() ?? slots.count
        if index == slots.count {
            slots.append(Slot())
            sources.append(nil)
        }
        slots[index].isUsed = true
        sources[index] = source
        return EventToken(slot: index, generation: slots[index].generation)
    }

    /// Frees the slot, and returns its source.
    mutating func free(_ token: EventToken) -> (any EventSource)? {
        guard let index = index(of: token) else { return nil }
        slots[index] = Slot(generation: token.generation &+ 1)
        freeSlots.append(index)
        return sources[index].take()
    }

    // MARK: Descriptors

    /// Records the descriptor of a source, and the readiness that it is watched for.
    mutating func watches(_ token: EventToken, _ descriptor: Int32, _ interest: Readiness) {
        guard let index = index(of: token) else { return }
        (slots[index].descriptor, slots[index].interest) = (descriptor, interest)
    }

    /// Sets another interest; returns the descriptor when the kernel must be notified.
    mutating func changes(_ token: EventToken, to interest: Readiness) -> Int32? {
        guard let index = index(of: token), slots[index].descriptor >= 0, slots[index].interest != interest else {
            return nil
        }
        slots[index].interest = interest
        return slots[index].descriptor
    }

    /// Removes the descriptor of a source; `nil` when there was none.
    mutating func unwatch(_ token: EventToken) -> Int32? {
        guard let index = index(of: token), slots[index].descriptor >= 0 else { return nil }
        defer { slots[index].descriptor = -1 }
        return slots[index].descriptor
    }

    // MARK: Marks

    /// Marks a source; returns `false` when it had the mark already.
    mutating func mark(_ token: EventToken, _ mark: Marks) -> Bool {
        guard let index = index(of: token) else { return false }
        return slots[index].marks.insert(mark).inserted
    }

    /// Removes a mark; returns the source if it had the mark and is not removed.
    mutating func take(_ token: EventToken, _ mark: Marks) -> (any EventSource)? {
        guard let index = index(of: token), slots[index].marks.contains(mark) else { return nil }
        slots[index].marks.remove(mark)
        return source(at: index)
    }

    // MARK: Deadlines

    /// Sets the source's one deadline; returns `true` when that needs an entry of the wheel.
    mutating func setDeadline(_ token: EventToken, at deadlineMs: Int) -> Bool {
        guard let index = index(of: token) else { return false }
        slots[index].deadlineMs = deadlineMs
        guard deadlineMs < slots[index].armedMs else { return false }
        slots[index].armedMs = deadlineMs
        return true
    }

    /// Takes a fired entry of the wheel; returns the consequence for its source.
    mutating func fired(_ token: EventToken, nowMs: Int) -> Firing {
        guard let index = index(of: token), let source = source(at: index) else { return .nothing }
        if slots[index].armedMs <= nowMs { slots[index].armedMs = Int.max }
        let deadlineMs = slots[index].deadlineMs
        if deadlineMs <= nowMs {
            slots[index].deadlineMs = Int.max
            return .due(source)
        }
        return setDeadline(token, at: deadlineMs) ? .later(deadlineMs) : .nothing
    }
}
