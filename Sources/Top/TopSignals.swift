import CLinux
import Glibc
import Reactors

/// Receives the signals of a terminal program as events of the reactor, so that no handler interrupts other code.
///
/// Thread: the reactor's.
final class TopSignals: EventSource {
    private let descriptor: FileDescriptor
    private let reactor: Reactor
    private let action: (Int32) -> Void
    private var token: EventToken?

    private static var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP] { unsafe sigaddset(&set, number) }
        return set
    }

    /// Blocks the signals: before any other thread starts, since each inherits the mask.
    static func block() {
        var set = TopSignals.set
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `action` for each signal that arrives; they are blocked.
    init(_ reactor: Reactor, action: @escaping (Int32) -> Void) throws(Errno) {
        var set = TopSignals.set
        let raw = try retrying { unsafe signalfd(-1, &set, SWB_CLOEXEC | SWB_NONBLOCK) }
        descriptor = FileDescriptor(owning: raw)
        self.reactor = reactor
        self.action = action
        token = try reactor.add(self, descriptor: raw, interest: .read)
    }

    /// Lets a write fail when its reader has gone, in place of ending the process.
    static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Stops the process as the terminal asked for (SIGTSTP), until it is continued.
    static func suspend() { _ = raise(SIGSTOP) }

    /// Ends the source; the signals stay blocked.
    func stop() {
        if let token { reactor.remove(token) }
        token = nil
    }

    /// Takes the signals that have arrived.
    func ready(_ readiness: Readiness) {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor.raw, &info, size) == size { action(Int32(truncatingIfNeeded: info.ssi_signo)) }
    }

    /// Does nothing: there is no deadline.
    func deadlineReached() {}
    /// Does nothing: there is nothing to write.
    func flush() {}
    /// Does nothing: the descriptor closes with its owner.
    func released() {}
}
