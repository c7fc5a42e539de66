import Reactors

/// A socket of libcurl in the reactor, which reports its readiness to the engine.
///
/// libcurl opens and closes the descriptor. Thread: the engine's.
final class CurlSocket: EventSource {
    private let reactor: Reactor
    private let onReady: (_ readiness: Readiness) -> Void
    private var token: EventToken?

    /// Begins to watch.
    init(
        _ reactor: Reactor, _ descriptor: Int32, _ interest: Readiness, onReady: @escaping (Readiness) -> Void
    ) throws(Errno) {
        self.reactor = reactor
        self.onReady = onReady
        token = try reactor.add(self, descriptor: descriptor, interest: interest)
    }

    /// Changes the events to wait for.
    func set(_ interest: Readiness) {
        if let token { reactor.setInterest(token, interest) }
    }

    /// Stops watching.
    func end() {
        if let token { reactor.remove(token) }
        token = nil
    }

    func ready(_ readiness: Readiness) {
        if token != nil { onReady(readiness) }
    }

    func deadlineReached() {}
    func flush() {}
    func released() {}
}
