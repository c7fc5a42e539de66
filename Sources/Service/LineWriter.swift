import Glibc
public import Reactors
import Synchronization

/// Writes lines to a descriptor on a thread of its own, through a bounded mailbox.
///
/// A blocked pipe or a slow disk blocks no reactor: a line that does not fit, or that cannot be written, is dropped and
/// counted. Thread: any.
public final class LineWriter: Sendable {
    private let wake: Wake
    private let mailbox: Mailbox<[UInt8]>
    private let droppedCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)
    /// A file that replaces the current one; -1 for none.
    private let next = Guarded<Int32>(-1)
    private let ended: Wake

    /// Starts the thread `name`; lines go to the descriptor, which is not closed unless `ownsDescriptor`.
    public init(_ name: String, to descriptor: Int32, ownsDescriptor: Bool, linesMax: Int) throws(Errno) {
        wake = try Wake()
        ended = try Wake()
        mailbox = Mailbox(capacity: linesMax, wake: wake)
        let started = try Reactors.Thread.start(name) { [self] in run(descriptor, ownsDescriptor) }
        thread.withLock { $0 = started }
    }

    /// The number of lines dropped because the disk or the reader was too slow, or refused them.
    public var dropped: Int { droppedCount.load(ordering: .relaxed) }

    /// Writes a line, its end included.
    ///
    /// It never blocks.
    public func write(_ line: [UInt8]) {
        if !mailbox.send(line) { droppedCount.add(1, ordering: .relaxed) }
    }

    /// Writes to another descriptor from now on, and owns it.
    public func replace(with descriptor: Int32) {
        let unused = next.withLock { next in
            defer { next = descriptor }
            return next
        }
        if unused >= 0 { _ = Glibc.close(unused) }
        wake.signal()
    }

    /// Writes the waiting lines and ends the thread.
    ///
    /// A reader that no longer reads must not keep the process alive: after two seconds the remaining lines and the
    /// thread are given up.
    public func close() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            if thread != nil && ended.wait(timeoutMs: 2_000) { thread?.join() } else { thread?.detach() }
            thread = nil
        }
    }

    private func run(_ first: Int32, _ ownsFirst: Bool) {
        var (descriptor, isOwned) = (first, ownsFirst)
        var lines: [[UInt8]] = []
        while true {
            wake.wait()
            // Read before the drain: lines from before the stop are in the mailbox by now.
            let stopping = isStopping.load(ordering: .acquiring)
            mailbox.drain(into: &lines)
            // A closed log cannot be reported anywhere, and the service continues.
            for line in lines where (try? Files.write(line, to: descriptor)) == nil {
                droppedCount.add(1, ordering: .relaxed)
            }
            lines.removeAll(keepingCapacity: true)
            let replacement = next.withLock { next in
                defer { next = -1 }
                return next
            }
            if replacement >= 0 {
                if isOwned { _ = Glibc.close(descriptor) }
                (descriptor, isOwned) = (replacement, true)
            }
            if stopping {
                if isOwned { _ = Glibc.close(descriptor) }
                return ended.signal()
            }
        }
    }
}
