/// The bytes waiting for one connection: references to shared immutable frames, in order.
///
/// Appending costs a reference, never a copy; ``gather(into:)`` copies pending frames together so that one write per
/// tick carries them all. The fates of items are counted here, in the counts of each and as the numbers returned. Pure
/// but for that: time is a parameter.
struct OutboundQueue {
    private struct Entry {
        var frame: [UInt8]
        var item: OutboundItem?
        /// The time of queueing in milliseconds, and in the lowest bit `isBacklog`.
        private let stamp: Int

        init(frame: [UInt8], item: OutboundItem?, enqueuedMs: Int, isBacklog: Bool) {
            self.frame = frame
            self.item = item
            stamp = enqueuedMs << 1 | (isBacklog ? 1 : 0)
        }

        var enqueuedMs: Int { stamp >> 1 }
        var isBacklog: Bool { stamp & 1 == 1 }
    }

    /// The entry that waits alone.
    ///
    /// Most queues never have another one: then they own no storage, and a write finds its frame beside the state of
    /// its connection.
    private var only: Entry?
    /// Bytes waiting.
    private(set) var byteCount = 0
    /// Bytes of the first entry already written.
    private var firstOffset = 0
    /// Waiting bytes of requested backlogs; of a frame whose write has begun, all until it is written.
    private(set) var backlogBytes = 0
    /// The entries, once a second one waits.
    private var entries: [Entry] = []
    /// Entries before this index have been written; they are removed together to keep removal cheap.
    private var firstEntry = 0

    var isEmpty: Bool { byteCount == 0 }

    /// The time at which the oldest waiting byte was queued, monotonic milliseconds; `nil` when empty.
    var oldestMs: Int? { only?.enqueuedMs ?? (firstEntry < entries.count ? entries[firstEntry].enqueuedMs : nil) }

    /// Appends a frame; empty frames are ignored.
    ///
    /// `isBacklog`: it belongs to a backlog that the peer requested, so its waiting is no sign of a slow reader.
    mutating func append(_ frame: [UInt8], item: OutboundItem? = nil, isBacklog: Bool = false, nowMs: Int) {
        guard !frame.isEmpty else { return }
        if let item { item.counts.waiting += item.count }
        let entry = Entry(frame: frame, item: item, enqueuedMs: nowMs, isBacklog: isBacklog)
        if isEmpty {
            only = entry
        } else {
            spill()
            entries.append(entry)
        }
        byteCount += frame.count
        if isBacklog { backlogBytes += frame.count }
    }

    /// Moves the entry that waits alone to the others.
    private mutating func spill() {
        if let entry = only.take() { entries.append(entry) }
    }

    /// The next frame to write alone, `countMax` bytes at most, and their range in it.
    ///
    /// `nil` when several frames are to be written together.
    func front(_ countMax: Int) -> (frame: [UInt8], range: Range<Int>)? {
        if let frame = only?.frame { return (frame, firstOffset..<min(frame.count, firstOffset + countMax)) }
        guard firstEntry < entries.count else { return nil }
        let rest = entries[firstEntry].frame.count - firstOffset
        guard rest >= countMax || firstEntry + 1 == entries.count else { return nil }
        return (entries[firstEntry].frame, firstOffset..<firstOffset + min(rest, countMax))
    }

    /// Copies as many waiting bytes as fit; returns how many.
    ///
    /// They stay queued until ``written(_:)``.
    func gather(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if let only { return unsafe OutboundQueue.copy(only.frame, from: firstOffset, into: buffer) }
        var filled = 0
        var index = firstEntry
        var offset = firstOffset
        while index < entries.count, filled < buffer.count {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            filled += unsafe OutboundQueue.copy(entries[index].frame, from: offset, into: room)
            index += 1
            offset = 0
        }
        return filled
    }

    private static func copy(_ frame: [UInt8], from offset: Int, into room: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(frame.count - offset, room.count)
        unsafe frame.withUnsafeBytes { bytes in
            let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
            unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count]).copyMemory(from: source)
        }
        return count
    }

    /// Removes bytes that were written; returns how many counted items they complete.
    @discardableResult
    mutating func written(_ count: Int) -> Int {
        guard count < byteCount else { return writtenAll() }
        var left = count
        var items = 0
        byteCount -= left
        if only != nil {
            firstOffset += left
            return 0
        }
        while left > 0, firstEntry < entries.count {
            let rest = entries[firstEntry].frame.count - firstOffset
            if left < rest {
                firstOffset += left
                break
            }
            left -= rest
            if let item = entries[firstEntry].item.take() { items += OutboundQueue.count(written: item) }
            if entries[firstEntry].isBacklog { backlogBytes -= entries[firstEntry].frame.count }
            entries[firstEntry].frame = []
            firstEntry += 1
            firstOffset = 0
        }
        compact()
        return items
    }

    /// The common case; entries that were written before have no item any more.
    private mutating func writtenAll() -> Int {
        (firstOffset, byteCount, backlogBytes) = (0, 0, 0)
        if let entry = only.take() { return entry.item.map { OutboundQueue.count(written: $0) } ?? 0 }
        let keepsStorage = entries.capacity <= OutboundQueue.keptCapacity
        var items = 0
        while let entry = entries.popLast() {
            if let item = entry.item { items += OutboundQueue.count(written: item) }
        }
        if !keepsStorage { entries = [] }
        firstEntry = 0
        return items
    }

    /// Counts in the item's counts; returns the number for the node's totals.
    private static func count(written item: OutboundItem) -> Int {
        item.counts.waiting -= item.count
        item.counts.written += item.count
        return item.isCounted ? item.count : 0
    }

    // MARK: Bursts

    /// Replaces each burst by its frames, so that each can have its own fate.
    ///
    /// Returns how many counted items of a burst that has begun have been written. It is for a peer that reads too
    /// slowly: other queues never split a burst.
    mutating func splitBursts() -> Int {
        spill()
        guard entries[firstEntry...].contains(where: { $0.item is OutboundBurst }) else { return 0 }
        var split: [Entry] = []
        var items = 0
        for (index, entry) in entries[firstEntry...].enumerated() {
            guard let burst = entry.item as? OutboundBurst else {
                split.append(entry)
                continue
            }
            for part in burst.parts {
                if index == 0, firstOffset >= part.frame.count {
                    firstOffset -= part.frame.count
                    items += OutboundQueue.count(written: part.item)
                } else {
                    split.append(
                        Entry(
                            frame: part.frame, item: part.item, enqueuedMs: entry.enqueuedMs, isBacklog: entry.isBacklog
                        ))
                }
            }
        }
        (entries, firstEntry) = (split, 0)
        return items
    }

    /// The items of the waiting frames, in order, those of bursts one by one.
    var items: [OutboundItem] {
        guard !isEmpty else { return [] }
        let waiting = only.map { [$0] } ?? Array(entries[firstEntry...])
        return waiting.compactMap(\.item).flatMap { ($0 as? OutboundBurst)?.parts.map(\.item) ?? [$0] }
    }

    /// The first of ``items`` that matches, without a list of them.
    func firstItem(where matches: (OutboundItem) -> Bool) -> OutboundItem? {
        func first(_ item: OutboundItem?) -> OutboundItem? {
            guard let item else { return nil }
            guard let burst = item as? OutboundBurst else { return matches(item) ? item : nil }
            return burst.parts.first { matches($0.item) }?.item
        }
        guard !isEmpty else { return nil }
        if let only { return first(only.item) }
        for entry in entries[firstEntry...] {
            if let found = first(entry.item) { return found }
        }
        return nil
    }

    // MARK: Thinning and dropping

    /// Drops every frame whose write has not begun, so that a close frame can follow at a frame's boundary.
    ///
    /// It is for a peer that reads too slowly. Returns how many counted items were dropped. `pinned` bytes were given
    /// to TLS and must be offered again unchanged.
    @discardableResult
    mutating func dropUnstarted(pinned: Int) -> Int {
        spill()
        let (index, kept) = unstarted(pinned: pinned)
        let items = countDropped(from: index, isSlow: true)
        for entry in entries[index...] where entry.isBacklog { backlogBytes -= entry.frame.count }
        entries.removeSubrange(index...)
        byteCount = kept
        compact()
        return items
    }

    /// The waiting frames, in order.
    func waiting(pinned: Int) -> [WaitingFrame] {
        var queue = self
        queue.spill()
        let begun = queue.unstarted(pinned: pinned).index
        return queue.entries.indices[firstEntry...].map { index in
            let entry = queue.entries[index]
            return WaitingFrame(
                item: entry.item, enqueuedMs: entry.enqueuedMs, isBacklog: entry.isBacklog, hasBegun: index < begun)
        }
    }

    /// Removes or replaces waiting frames, a fate for each of ``waiting(pinned:)``; returns how many counted items were
    /// removed.
    ///
    /// A replacement has the age of its predecessor. A frame whose write has begun stays.
    mutating func thin(_ fates: [FrameFate], pinned: Int) -> Int {
        spill()
        let begun = unstarted(pinned: pinned).index
        var items = 0
        var next = begun
        for index in begun..<entries.count {
            let entry = entries[index]
            switch index - firstEntry < fates.count ? fates[index - firstEntry] : .keep {
            case .keep:
                entries[next] = entry
                next += 1
                continue
            case .conflate:
                break
            case .replace(let frame, let item):
                item.counts.waiting += 1
                entries[next] = Entry(frame: frame, item: item, enqueuedMs: entry.enqueuedMs, isBacklog: false)
                byteCount += frame.count
                next += 1
            }
            byteCount -= entry.frame.count
            if entry.isBacklog { backlogBytes -= entry.frame.count }
            guard let item = entry.item else { continue }
            item.counts.waiting -= 1
            item.counts.conflated += 1
            if item.isCounted { items += 1 }
        }
        entries.removeSubrange(next...)
        compact()
        return items
    }

    /// Drops everything; returns how many counted items were dropped.
    @discardableResult
    mutating func removeAll(isSlow: Bool = false) -> Int {
        spill()
        let items = countDropped(from: firstEntry, isSlow: isSlow)
        entries = []
        (firstEntry, firstOffset, byteCount, backlogBytes) = (0, 0, 0, 0)
        return items
    }

    /// The first entry whose write has not begun, and the bytes waiting before it.
    private func unstarted(pinned: Int) -> (index: Int, bytes: Int) {
        var bytes = 0
        var index = firstEntry
        while index < entries.count, bytes < pinned || (index == firstEntry && firstOffset > 0) {
            bytes += entries[index].frame.count - (index == firstEntry ? firstOffset : 0)
            index += 1
        }
        return (index, bytes)
    }

    private func countDropped(from index: Int, isSlow: Bool) -> Int {
        var items = 0
        for case let item? in entries[index...].lazy.map(\.item) {
            item.counts.waiting -= item.count
            if isSlow { item.counts.droppedSlow += item.count } else { item.counts.droppedGone += item.count }
            if item.isCounted { items += item.count }
        }
        return items
    }

    /// Releases storage, if nothing waits.
    ///
    /// Called periodically, so that a busy queue allocates nothing and an idle one is small.
    mutating func trim() {
        if isEmpty { entries = [] }
    }

    /// Entries for which an empty queue keeps storage, for the next tick; storage for more is released after a backlog.
    private static let keptCapacity = 64

    private mutating func compact() {
        if byteCount == 0 {
            entries.removeAll(keepingCapacity: entries.capacity <= OutboundQueue.keptCapacity)
            (firstEntry, firstOffset) = (0, 0)
        } else if firstEntry > 64 && firstEntry * 2 > entries.count {
            entries.removeFirst(firstEntry)
            firstEntry = 0
        }
    }
}
