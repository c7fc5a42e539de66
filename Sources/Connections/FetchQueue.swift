/// The frames that wait for a client that fetches them, a few at a time; counted as if written to a connection.
///
/// Pure: time is a parameter.
public struct FetchQueue {
    private struct Entry {
        let frame: [UInt8]
        let packets: Int
        let item: OutboundItem?
        let enqueuedMs: Int
        let isBacklog: Bool
    }

    private var entries: [Entry] = []
    /// Bytes waiting.
    public private(set) var byteCount = 0
    /// Bytes of the waiting frames that belong to a backlog requested by position.
    private var backlogBytes = 0
    /// Bytes that count against the bound: a waiting recovery backlog is no sign of a slow reader.
    public var unowedBytes: Int { byteCount - backlogBytes }

    /// An empty queue.
    public init() {}

    /// Whether no frame waits.
    public var isEmpty: Bool { entries.isEmpty }

    /// The time at which the oldest frame was queued, monotonic milliseconds; `nil` when none waits.
    public var oldestMs: Int? { entries.first?.enqueuedMs }

    /// The waiting bytes, and since when.
    public var load: QueueLoad { QueueLoad(bytes: byteCount, oldestMs: oldestMs) }

    /// Adds a frame of so many packets that stands for `item`, or for a message of the gateway's own.
    ///
    /// `isBacklog`: the client requested it by its position.
    public mutating func append(
        _ frame: [UInt8], packets: Int = 1, item: OutboundItem? = nil, isBacklog: Bool = false, nowMs: Int
    ) {
        if let item { item.counts.waiting += item.count }
        entries.append(Entry(frame: frame, packets: packets, item: item, enqueuedMs: nowMs, isBacklog: isBacklog))
        byteCount += frame.count
        if isBacklog { backlogBytes += frame.count }
    }

    /// Takes frames within the limits of packets and bytes, at least one.
    ///
    /// Also returns how many items of the node's totals they complete.
    public mutating func take(_ packetsMax: Int, bytesMax: Int) -> (frames: [[UInt8]], items: Int) {
        var (items, packets, bytes) = (0, 0, 0)
        let taken = entries.prefix { entry in
            packets += entry.packets
            bytes += entry.frame.count
            return packets == entry.packets || packets <= packetsMax && bytes <= bytesMax
        }
        for entry in taken {
            byteCount -= entry.frame.count
            if entry.isBacklog { backlogBytes -= entry.frame.count }
            guard let item = entry.item else { continue }
            item.counts.waiting -= item.count
            item.counts.written += item.count
            if item.isCounted { items += item.count }
        }
        let frames = taken.map(\.frame)
        entries.removeFirst(frames.count)
        if entries.isEmpty { entries = [] }
        return (frames, items)
    }

    /// Takes everything out uncounted: the connection that sends it counts it.
    public mutating func handOver() -> [(frame: [UInt8], item: OutboundItem?)] {
        for case let item? in entries.lazy.map(\.item) { item.counts.waiting -= item.count }
        defer { (entries, byteCount, backlogBytes) = ([], 0, 0) }
        return entries.map { ($0.frame, $0.item) }
    }

    /// The items of the waiting frames, in order.
    public var items: [OutboundItem] { entries.compactMap(\.item) }

    /// The first of these that matches, without a list of them.
    public func firstItem(where matches: (OutboundItem) -> Bool) -> OutboundItem? {
        entries.first { $0.item.map(matches) ?? false }?.item
    }

    /// Drops everything; returns how many items of the node's totals that were.
    ///
    /// `isSlow`: the client did not fetch in time.
    public mutating func removeAll(isSlow: Bool) -> Int {
        var items = 0
        for case let item? in entries.lazy.map(\.item) {
            item.counts.waiting -= item.count
            if isSlow { item.counts.droppedSlow += item.count } else { item.counts.droppedGone += item.count }
            if item.isCounted { items += item.count }
        }
        (entries, byteCount, backlogBytes) = ([], 0, 0)
        return items
    }
}

extension OutboundItem {
    /// Counts a frame that was refused because its receiver reads too slowly.
    public func countRefused() {
        counts.droppedSlow += count
    }
}
