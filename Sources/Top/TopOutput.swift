import Glibc
import Reactors

/// Writes to standard output without waiting for a terminal that takes nothing.
///
/// Thread: the reactor's.
final class TopOutput: EventSource {
    private let reactor: Reactor
    private let onLost: () -> Void
    /// The terminal, opened once more; `nil` where it is standard output itself that is written to.
    ///
    /// Whether writes wait is a property of the open file, and a shell shares that of standard output.
    private let descriptor: FileDescriptor?
    /// The number of the descriptor that is written to.
    private let raw: Int32
    private var token: EventToken?
    private var waiting: ArraySlice<UInt8> = []
    private var isLost = false

    /// Writes to standard output, without waiting when it is a screen; `onLost` is called once its reader has gone.
    init(_ reactor: Reactor, isScreen: Bool, onLost: @escaping () -> Void) {
        self.reactor = reactor
        self.onLost = onLost
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let opened = isScreen ? unsafe open("/proc/self/fd/1", flags) : -1
        raw = opened >= 0 ? opened : STDOUT_FILENO
        descriptor = opened >= 0 ? FileDescriptor(owning: opened) : nil
        token = opened >= 0 ? try? reactor.add(self, descriptor: opened) : nil
    }

    /// Writes a frame unless an earlier one still waits.
    func offer(_ bytes: [UInt8]) {
        if waiting.isEmpty { write(bytes) }
    }

    /// Writes bytes, after those that wait.
    func write(_ bytes: [UInt8]) {
        waiting += bytes
        proceed()
    }

    /// Writes bytes in place of those that wait, and waits until they are taken; false when the reader has gone.
    ///
    /// It gives up when nothing is taken for `waitMs` milliseconds, unless that is negative.
    @discardableResult
    func finish(_ bytes: [UInt8], waitMs: Int32) -> Bool {
        waiting = bytes[...]
        while !waiting.isEmpty, !isLost {
            proceed()
            guard !waiting.isEmpty, !isLost else { break }
            var watched = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
            if unsafe poll(&watched, 1, waitMs) == 0 { break }
        }
        return !isLost
    }

    private func proceed() {
        while !waiting.isEmpty, !isLost {
            let (part, raw) = (Array(waiting.prefix(65_536)), raw)
            let count = unsafe Glibc.write(raw, part, part.count)
            if count > 0 {
                waiting = waiting.dropFirst(count)
                continue
            }
            let failure = Errno.current
            if failure.code == EINTR { continue }
            if failure == .wouldBlock { break }
            isLost = true
            waiting = []
            onLost()
        }
        if let token { reactor.setInterest(token, waiting.isEmpty ? [] : .write) }
    }

    /// Ends writing.
    func stop() {
        if let token { reactor.remove(token) }
        token = nil
    }

    /// Writes on, or notices the end of the terminal.
    func ready(_ readiness: Readiness) {
        guard !readiness.contains(.failed) else {
            guard !isLost else { return }
            isLost = true
            stop()
            return onLost()
        }
        proceed()
    }

    /// Does nothing: there is no deadline.
    func deadlineReached() {}
    /// Does nothing: writes happen at once.
    func flush() {}
    /// Does nothing: the descriptor closes with its owner.
    func released() {}
}
