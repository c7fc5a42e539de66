/// The sending half of a connection: what waits, how far the peer has read, and what has been asked of the loop.
///
/// Each event of the way out is one call, and so one access to the connection, since every delivery makes them all.
/// Pure: time and what was written are parameters.
struct Outbound {
    /// What asking for a flush would say.
    enum Mark: UInt8 {
        case none
        case bulk
        case flush
    }

    /// What became of a frame.
    enum Offer: Equatable {
        /// It waits.
        case taken
        /// It waits, and a flush is to be asked for.
        case wantsFlush
        /// It was not taken: not open, or a bound is reached.
        case refused
    }

    /// What a write has ended.
    struct Progress: Equatable {
        /// Counted items written to their last byte.
        var items: Int
        /// Whether nothing waits any more.
        var isAll: Bool
    }

    var queue = OutboundQueue()
    /// Whether the connection is open for frames.
    var isOpen = false
    /// Bytes of the write that would block; TLS wants them offered again.
    var pinned = 0
    /// Whether the last write would have blocked.
    var isBlocked = false
    /// When bytes last began to wait or were written, monotonic milliseconds.
    var progressMs = 0
    /// Before that, the age of what waits is not looked at again.
    var nextAgeCheckMs = Int.min
    /// What the loop was asked for since the last flush.
    var mark = Mark.none

    /// Bytes that count against the bound: what the peer asked for at once is not slowness.
    var unowedBytes: Int { queue.byteCount - queue.owedBytes }

    /// Whether so many more bytes are within the bound.
    func fits(_ bytes: Int, isOwed: Bool, bytesMax: Int) -> Bool {
        isOwed || unowedBytes + bytes <= bytesMax
    }

    /// Takes a frame if it is within the bounds; `hasRoom`: the connections together are within theirs;
    /// `next`: what it asks the loop for.
    ///
    /// A connection that has read everything may always be sent one more; the bounds are for the others.
    mutating func offer(
        _ frame: [UInt8], item: OutboundItem?, isOwed: Bool, asking next: Mark, nowMs: Int, bytesMax: Int, hasRoom: Bool
    ) -> Offer {
        guard isOpen else { return .refused }
        if queue.isEmpty {
            progressMs = nowMs
        } else if !hasRoom || !fits(frame.count, isOwed: isOwed, bytesMax: bytesMax) {
            return .refused
        }
        queue.append(frame, item: item, isOwed: isOwed, nowMs: nowMs)
        return !isBlocked && asks(next) ? .wantsFlush : .taken
    }

    /// Takes note that a flush is asked for; false when that says nothing new.
    mutating func asks(_ next: Mark) -> Bool {
        guard next.rawValue > mark.rawValue else { return false }
        mark = next
        return true
    }

    /// Copies what is to be written next; returns how many bytes, 0 when there is nothing or the peer has no room.
    mutating func gather(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        mark = .none
        return isBlocked || queue.isEmpty ? 0 : unsafe queue.gather(into: buffer)
    }

    /// Bytes were written.
    mutating func wrote(_ count: Int, nowMs: Int) -> Progress {
        pinned = 0
        progressMs = nowMs
        let items = queue.written(count)
        return Progress(items: items, isAll: queue.isEmpty)
    }

    /// A write would have blocked, and left so many bytes to be offered again.
    mutating func blocked(pinned: Int) {
        (self.pinned, isBlocked) = (pinned, true)
    }
}
