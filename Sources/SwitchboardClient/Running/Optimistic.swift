/// A value with optimistic changes: the server's value, and the unanswered changes, replayed in their order.
///
/// An error drops its change at once, and the others are replayed on the server's value. An answer drops its change
/// when a newer value of the server has arrived since the change was made. Otherwise the change stays part of the value
/// until the server's next one.
public final class Optimistic<Value: Sendable>: Sendable {
    private struct Guess: Sendable {
        let number: Int
        let change: @Sendable (inout Value) -> Void
        /// The number of the server's values when it was made.
        let madeAt: Int
        let isIn: (@Sendable (Value) -> Bool)?
        var isAnswered = false
        var answeredAt: TopicPosition?
    }

    private struct State: Sendable {
        var server: Value
        var serverCount = 0
        var guesses: [Guess] = []
        var numbers = 0
        var readers: [Int: Inbox<Value>] = [:]

        var value: Value {
            var value = server
            for guess in guesses { guess.change(&value) }
            return value
        }
    }

    private let state: Locked<State>

    /// Begins with a known value.
    public init(_ value: Value) { state = Locked(State(server: value)) }

    /// The value to show now.
    public var value: Value { state.with { $0.value } }

    /// Takes the server's value, from a state or an event.
    ///
    /// - Parameters:
    ///   - value: the server's value.
    ///   - upTo: the position of the newest event in the value. A change stays while its answer has a later position.
    public func set(server value: Value, upTo: TopicPosition? = nil) {
        change { state in
            state.server = value
            state.serverCount += 1
            state.guesses.removeAll { guess in
                if guess.isIn?(value) == true { return true }
                guard guess.isAnswered, let answer = guess.answeredAt, let upTo, answer.epoch == upTo.epoch else {
                    return guess.isAnswered
                }
                return upTo.offset >= answer.offset
            }
        }
    }

    /// Shows a change at once, runs its call, and keeps or reverts the change by the answer.
    ///
    /// - Parameters:
    ///   - change: the change of the value, without side effects.
    ///   - isIn: whether a value of the server includes the change already. Pass it where the event may arrive before the
    ///     answer and a repeated change would show, e.g. a count.
    ///   - call: the call that makes the change on the server.
    public func perform<Answer: Sendable>(
        _ change: @escaping @Sendable (inout Value) -> Void, isIn: (@Sendable (Value) -> Bool)? = nil,
        by call: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let number = guess(change, isIn: isIn)
        do {
            let answer = try await call()
            settle(
                number, isDone: true,
                at: answer as? TopicPosition ?? (answer as? JSONValue).flatMap { TopicPosition($0) })
            return answer
        } catch {
            settle(number, isDone: false, at: nil)
            throw error
        }
    }

    /// Shows a change without an answer; returns its number.
    func guess(_ change: @escaping @Sendable (inout Value) -> Void, isIn: (@Sendable (Value) -> Bool)? = nil) -> Int {
        var number = 0
        self.change { state in
            state.numbers += 1
            number = state.numbers
            state.guesses.append(Guess(number: number, change: change, madeAt: state.serverCount, isIn: isIn))
        }
        return number
    }

    /// The change has its answer; `position` is that of a publish.
    func settle(_ number: Int, isDone: Bool, at position: TopicPosition?) {
        change { state in
            guard let index = state.guesses.firstIndex(where: { $0.number == number }) else { return }
            // A value received since the change includes it already, unless the caller supplied `isIn` to test that.
            let isOver =
                position == nil && state.guesses[index].isIn == nil && state.guesses[index].madeAt < state.serverCount
            if !isDone || isOver {
                state.guesses.remove(at: index)
            } else {
                state.guesses[index].isAnswered = true
                state.guesses[index].answeredAt = position
            }
        }
    }

    /// Notifies readers under the lock, so that none sees an older value last; the notification never waits.
    private func change(_ body: (inout State) -> Void) {
        state.with { state in
            body(&state)
            for reader in state.readers.values { reader.push(state.value) }
        }
    }

    /// The value to show, now and after each change; a slow reader sees the newest.
    public var values: AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let inbox = Inbox<Value> { queue, value in queue = [value] }
            let number = state.with { state in
                state.numbers += 1
                state.readers[state.numbers] = inbox
                return state.numbers
            }
            inbox.push(value)
            let task = Task {
                while let next = try? await inbox.next() { continuation.yield(next) }
            }
            continuation.onTermination = { [weak self] _ in
                task.cancel()
                self?.state.with { $0.readers[number] = nil }
            }
        }
    }
}
