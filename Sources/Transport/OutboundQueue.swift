/// The bytes waiting for one connection: references to shared immutable frames, in order.
///
/// Appending costs a reference, never a copy; ``gather(into:)`` copies pending frames together so that one write per
/// tick carries them all. Pure: time is a parameter.
struct OutboundQueue {
    private struct Entry {
        var frame: [UInt8]
        let enqueuedMs: Int
    }

    private var entries: [Entry] = []
    /// Entries before this index have been written; they are dropped together to keep removal cheap.
    private var firstEntry = 0
    /// Bytes of the first entry already written.
    private var firstOffset = 0
    /// Bytes waiting.
    private(set) var byteCount = 0

    var isEmpty: Bool { byteCount == 0 }

    /// When the oldest waiting byte came, monotonic milliseconds; `nil` when empty.
    var oldestMs: Int? { firstEntry < entries.count ? entries[firstEntry].enqueuedMs : nil }

    /// Appends a frame; empty frames vanish.
    mutating func append(_ frame: [UInt8], nowMs: Int) {
        guard !frame.isEmpty else { return }
        entries.append(Entry(frame: frame, enqueuedMs: nowMs))
        byteCount += frame.count
    }

    /// Copies as many waiting bytes as fit; returns how many.
    ///
    /// They stay queued until ``written(_:)``.
    func gather(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        var index = firstEntry
        var offset = firstOffset
        while index < entries.count, filled < buffer.count {
            let length = min(entries[index].frame.count - offset, buffer.count - filled)
            unsafe entries[index].frame.withUnsafeBytes { bytes in
                let source = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + length)])
                    .copyMemory(from: source)
            }
            filled += length
            index += 1
            offset = 0
        }
        return filled
    }

    /// Drops bytes that were written.
    mutating func written(_ count: Int) {
        var left = min(count, byteCount)
        byteCount -= left
        while left > 0, firstEntry < entries.count {
            let rest = entries[firstEntry].frame.count - firstOffset
            if left < rest {
                firstOffset += left
                break
            }
            left -= rest
            entries[firstEntry].frame = []
            firstEntry += 1
            firstOffset = 0
        }
        compact()
    }

    /// Drops every frame that has not begun to be written, so that a close frame can follow at a frame's boundary.
    ///
    /// `pinned` bytes were handed to TLS and must be offered again as they were.
    mutating func dropUnstarted(pinned: Int) {
        var kept = 0
        var index = firstEntry
        while index < entries.count, kept < pinned || (index == firstEntry && firstOffset > 0) {
            kept += entries[index].frame.count - (index == firstEntry ? firstOffset : 0)
            index += 1
        }
        entries.removeSubrange(index...)
        byteCount = kept
        compact()
    }

    /// Forgets everything.
    mutating func removeAll() {
        entries = []
        (firstEntry, firstOffset, byteCount) = (0, 0, 0)
    }

    /// An empty queue keeps a little storage, so that a delivery allocates nothing; a burst's storage is given back.
    private mutating func compact() {
        if byteCount == 0 {
            entries.removeAll(keepingCapacity: entries.capacity <= 8)
            (firstEntry, firstOffset) = (0, 0)
        } else if firstEntry > 64 && firstEntry * 2 > entries.count {
            entries.removeFirst(firstEntry)
            firstEntry = 0
        }
    }
}
