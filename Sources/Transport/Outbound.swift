/// The sending half of a connection: what waits, how far the peer has read, and what has been asked of the loop.
///
/// Each event of the way out is one call, and so one access to the connection, since every delivery makes them all.
/// Pure: time and what was written are parameters.
struct Outbound {
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
    /// Whether the loop was asked for a flush since the last one.
    var isMarked = false

    /// Bytes that count against the bound: what the peer asked for at once is not slowness.
    var unowedBytes: Int { queue.byteCount - queue.owedBytes }

    /// Whether so many more bytes are within the bound.
    func fits(_ bytes: Int, isOwed: Bool, bytesMax: Int) -> Bool {
        isOwed || unowedBytes + bytes <= bytesMax
    }

    /// Takes a frame if it is within the bounds; `hasRoom`: the connections together are within theirs.
    ///
    /// A connection that has read everything may always be sent one more; the bounds are for the others.
    mutating func offer(
        _ frame: [UInt8], item: OutboundItem?, isOwed: Bool, nowMs: Int, bytesMax: Int, hasRoom: Bool
    ) -> Offer {
        guard isOpen else { return .refused }
        if queue.isEmpty {
            progressMs = nowMs
        } else if !hasRoom || !fits(frame.count, isOwed: isOwed, bytesMax: bytesMax) {
            return .refused
        }
        queue.append(frame, item: item, isOwed: isOwed, nowMs: nowMs)
        return !isBlocked && asksForFlush() ? .wantsFlush : .taken
    }

    /// Takes note that a flush is asked for; false when that says nothing new.
    mutating func asksForFlush() -> Bool {
        guard !isMarked else { return false }
        isMarked = true
        return true
    }

    /// What is to be written next.
    enum Next {
        /// Nothing, or the peer has no room.
        case nothing
        /// These bytes of a frame.
        case frame([UInt8], Range<Int>)
        /// So many bytes, which were copied together.
        case gathered(Int)
    }

    /// Finds what is to be written next, at most what fits into the buffer; copies only what is of several frames.
    mutating func next(gathering buffer: UnsafeMutableRawBufferPointer) -> Next {
        isMarked = false
        guard !isBlocked, !queue.isEmpty else { return .nothing }
        if let (frame, range) = queue.front(buffer.count) { return .frame(frame, range) }
        return .gathered(unsafe queue.gather(into: buffer))
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
