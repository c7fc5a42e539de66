/// A separate deadline, for owners without a descriptor.
///
/// Thread: the reactor's.
public final class ReactorTimer: EventSource {
    private let reactor: Reactor
    private let action: () -> Void
    private var token: EventToken?

    /// Makes an idle timer; `action` runs in the timer phase each time a deadline passes.
    public init(_ reactor: Reactor, action: @escaping () -> Void) throws(Errno) {
        self.reactor = reactor
        self.action = action
        token = try reactor.add(self)
    }

    /// Sets the one deadline, monotonic milliseconds; replaces an earlier one.
    public func set(atMs deadlineMs: Int) {
        if let token { reactor.setDeadline(token, at: deadlineMs) }
    }

    /// Removes the deadline.
    public func clear() {
        set(atMs: Int.max)
    }

    /// Ends the timer permanently; until then it holds its action, and so its owner.
    public func invalidate() {
        if let token { reactor.remove(token) }
        token = nil
    }

    /// Never called: there is no descriptor.
    public func ready(_ readiness: Readiness) {}
    /// Runs the action.
    public func deadlineReached() { action() }
    /// Does nothing: there is nothing to write.
    public func flush() {}
    /// Does nothing: there is nothing to free.
    public func released() {}
}
