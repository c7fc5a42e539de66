/// A bounded queue from the client to one reader.
final class Inbox<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var queue: [Element] = []
        var isOver = false
        var error: SwitchboardError?
        var waiter: CheckedContinuation<Element?, any Error>?
    }

    private let state = Locked(State())
    /// Adds an element to the queue, and keeps its bound.
    private let admit: @Sendable (inout [Element], Element) -> Void

    /// A queue that is bounded by `admit`.
    init(admit: @escaping @Sendable (inout [Element], Element) -> Void) { self.admit = admit }

    /// Passes an element to the waiting reader, or queues it; never waits.
    func push(_ element: Element) {
        let waiter = state.with { state -> CheckedContinuation<Element?, any Error>? in
            guard !state.isOver else { return nil }
            guard let waiter = state.waiter else {
                admit(&state.queue, element)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: element)
    }

    /// Ends the queue after its waiting elements.
    func finish(_ error: SwitchboardError?) {
        let waiter = state.with { state -> CheckedContinuation<Element?, any Error>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            let waiter = state.waiter
            state.waiter = nil
            if waiter == nil { state.error = error }
            return waiter
        }
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: nil) }
    }

    /// Removes and returns all waiting elements.
    func takeAll() -> [Element] {
        state.with { state in
            defer { state.queue = [] }
            return state.queue
        }
    }

    /// The next element; `nil` at the end, or when the reader's task is cancelled.
    func next() async throws -> Element? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = state.with { state -> Result<Element?, any Error>? in
                    if !state.queue.isEmpty { return .success(state.queue.removeFirst()) }
                    guard state.isOver else {
                        state.waiter = continuation
                        return nil
                    }
                    guard let error = state.error else { return .success(nil) }
                    state.error = nil
                    return .failure(error)
                }
                if let now { continuation.resume(with: now) }
            }
        } onCancel: {
            let waiter = state.with { state -> CheckedContinuation<Element?, any Error>? in
                state.queue = []
                state.isOver = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: nil)
        }
    }
}
