/// A value with guesses on top: the server's value, and the changes that are not answered yet, replayed in their order.
///
/// An error drops its guess at once, and the others are replayed on the server's value. An answer drops its guess when the server's value
/// has come since the guess was made, and else makes it part of the value until the server's next one.
public final class Optimistic<Value: Sendable>: Sendable {
    private struct Guess: Sendable {
        let number: Int
        let change: @Sendable (inout Value) -> Void
        /// The count of the server's values when it was made.
        let madeAt: Int
        let isIn: (@Sendable (Value) -> Bool)?
        var isAnswered = false
        var answeredAt: Position?
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

    /// Begins with what is known.
    public init(_ value: Value) { state = Locked(State(server: value)) }

    /// What to show now.
    public var value: Value { state.with { $0.value } }

    /// Takes the server's value, as of a state or an event.
    ///
    /// - Parameter upTo: the position of the newest event that the value has. A guess whose answer tells a later position stays.
    public func set(server value: Value, upTo: Position? = nil) {
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

    /// Shows a change at once, runs its call, and keeps or takes back the change by the answer.
    ///
    /// - Parameter isIn: whether a value of the server has the change already. Give it where the event may come before the
    ///   answer and doing the change twice would show, e.g. a count.
    public func perform<Answer: Sendable>(
        _ change: @escaping @Sendable (inout Value) -> Void, isIn: (@Sendable (Value) -> Bool)? = nil,
        by call: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let number = guess(change, isIn: isIn)
        do {
            let answer = try await call()
            settle(number, isDone: true, at: answer as? Position ?? (answer as? JSONValue).flatMap { Position($0) })
            return answer
        } catch {
            settle(number, isDone: false, at: nil)
            throw error
        }
    }

    /// Shows a change that has no answer yet; returns its number.
    func guess(_ change: @escaping @Sendable (inout Value) -> Void, isIn: (@Sendable (Value) -> Bool)? = nil) -> Int {
        var number = 0
        self.change { state in
            state.numbers += 1
            number = state.numbers
            state.guesses.append(Guess(number: number, change: change, madeAt: state.serverCount, isIn: isIn))
        }
        return number
    }

    /// The change has its answer, and where a publish stands.
    func settle(_ number: Int, isDone: Bool, at position: Position?) {
        change { state in
            guard let index = state.guesses.firstIndex(where: { $0.number == number }) else { return }
            // A value that came since the guess has the change already, unless somebody said how to see that.
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

    /// Readers are told under the lock, so that none sees an older value last; being told never waits.
    private func change(_ body: (inout State) -> Void) {
        state.with { state in
            body(&state)
            for reader in state.readers.values { reader.push(state.value) }
        }
    }

    /// What to show, now and after each change; a slow reader sees the newest.
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
