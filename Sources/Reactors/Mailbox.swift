/// A bounded queue of values to one reactor thread; values cross threads in no other way.
///
/// The lock is held for an append or a swap, never while a message is handled. Wakes are coalesced: only the first
/// message since the last drain writes the eventfd. Thread: `send` from any; `drain` from the owner's.
public final class Mailbox<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var wakePending = false
    }

    private let state = Guarded(State())
    private let capacity: Int
    private let wake: Wake

    /// Makes a mailbox of at most `capacity` waiting messages that wakes its owner through `wake`.
    public init(capacity: Int, wake: Wake) {
        self.capacity = capacity
        self.wake = wake
    }

    /// Appends a message; returns `false` when the mailbox is full, and then drops the message.
    public func send(_ message: consuming sending Message) -> Bool {
        send(contentsOf: [message])
    }

    /// Appends messages in order, all or none; returns `false` when they do not fit.
    ///
    /// An empty mailbox accepts a batch of any size, so that a batch beyond the capacity is late, never undeliverable.
    public func send(contentsOf messages: some Collection<Message>) -> Bool {
        guard !messages.isEmpty else { return true }
        let (taken, mustWake) = state.withLock { state in
            let fits = state.messages.count + messages.count <= capacity
            guard fits || (state.messages.isEmpty && messages.count > 1) else { return (false, false) }
            state.messages.append(contentsOf: messages)
            let mustWake = !state.wakePending
            state.wakePending = true
            return (true, mustWake)
        }
        if mustWake { wake.signal() }
        return taken
    }

    /// Takes all waiting messages; `messages` must be empty, and its storage goes to the mailbox.
    public func drain(into messages: inout [Message]) {
        state.withLock { state in
            swap(&state.messages, &messages)
            state.wakePending = false
        }
    }
}
