import Glibc
import Reactors

/// Reads the keys of a terminal.
///
/// Thread: the reactor's.
final class TopInput: EventSource {
    private let reactor: Reactor
    private let onKeys: ([UInt8]) -> Void
    private let onLost: () -> Void
    private var token: EventToken?

    /// Reads standard input; `onLost` is called once it has ended.
    init(_ reactor: Reactor, onKeys: @escaping ([UInt8]) -> Void, onLost: @escaping () -> Void) throws(Errno) {
        (self.reactor, self.onKeys, self.onLost) = (reactor, onKeys, onLost)
        token = try reactor.add(self, descriptor: STDIN_FILENO, interest: .read)
    }

    /// Ends reading.
    func stop() {
        if let token { reactor.remove(token) }
        token = nil
    }

    /// Reads once: the descriptor blocks when there is nothing more.
    func ready(_ readiness: Readiness) {
        guard token != nil else { return }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count > 0 { return onKeys(Array(bytes.prefix(count))) }
        if count < 0, [EINTR, EAGAIN].contains(Errno.current.code) { return }
        stop()
        onLost()
    }

    /// Does nothing: there is no deadline.
    func deadlineReached() {}
    /// Does nothing: there is nothing to write.
    func flush() {}
    /// Does nothing: the descriptor is the process's own.
    func released() {}
}
