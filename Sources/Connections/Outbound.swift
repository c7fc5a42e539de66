/// The sending half of a connection: the queue, the peer's progress, and the requests to the loop.
///
/// Each event of the outbound side is one call, and so one access to the connection, since every delivery makes them
/// all. Pure: time and the bytes written are parameters.
struct Outbound {
    /// The fate of a frame.
    enum Offer: Equatable {
        /// It is queued.
        case taken
        /// It is queued, and a flush is to be requested.
        case wantsFlush
        /// It was refused: not open, or a bound is reached.
        case refused
    }

    /// The result of a write.
    struct Progress: Equatable {
        /// Counted items written to their last byte.
        var items: Int
        /// Whether nothing waits any more.
        var isAll: Bool
    }

    // In the order in which a delivery uses them; the flags share a word.
    var queue = OutboundQueue()
    /// Whether the connection is open for frames.
    var isOpen = false
    /// Whether the last write would have blocked.
    var isBlocked = false
    /// Whether a flush was requested since the last one.
    var isMarked = false
    /// Bytes of the write that would block; TLS wants them offered again.
    var pinned = 0
    /// The time at which bytes last began to wait or were written, monotonic milliseconds.
    var progressMs = 0
    /// The time before which the age of waiting frames is not checked again.
    var nextAgeCheckMs = Int.min

    /// Bytes that count against the bound: a requested backlog is no sign of a slow reader.
    var unowedBytes: Int { queue.byteCount - queue.backlogBytes }

    /// Whether so many more bytes are within the bound.
    func fits(_ bytes: Int, isBacklog: Bool, bytesMax: Int) -> Bool {
        isBacklog || unowedBytes + bytes <= bytesMax
    }

    /// Takes a frame within the bounds; `hasRoom`: the connections together are within theirs.
    ///
    /// A connection that has read everything may always be sent one more; the bounds are for the others.
    mutating func offer(
        _ frame: [UInt8], item: OutboundItem?, isBacklog: Bool, nowMs: Int, bytesMax: Int, hasRoom: Bool
    ) -> Offer {
        guard isOpen else { return .refused }
        if queue.isEmpty {
            progressMs = nowMs
        } else if !hasRoom || !fits(frame.count, isBacklog: isBacklog, bytesMax: bytesMax) {
            return .refused
        }
        queue.append(frame, item: item, isBacklog: isBacklog, nowMs: nowMs)
        return !isBlocked && asksForFlush() ? .wantsFlush : .taken
    }

    /// Records a request for a flush; `false` when there is one already.
    mutating func asksForFlush() -> Bool {
        guard !isMarked else { return false }
        isMarked = true
        return true
    }

    /// The next bytes to write.
    enum Next {
        /// Nothing, or the peer has no room.
        case nothing
        /// These bytes of a frame.
        case frame([UInt8], Range<Int>)
        /// So many bytes, which were copied together.
        case gathered(Int)
    }

    /// Finds the next bytes to write, at most as many as fit into the buffer; copies only those of several frames.
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

    /// A write would have blocked, with so many bytes that must be offered again.
    mutating func blocked(pinned: Int) {
        (self.pinned, isBlocked) = (pinned, true)
    }
}
