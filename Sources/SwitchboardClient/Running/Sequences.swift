/// What a topic tells, as a sequence.
///
/// Each iterator has a bounded buffer of its own. It ends when its task is cancelled or the client stopped, and
/// throws when the gateway refuses the topic for good.
public struct TopicUpdates: AsyncSequence, Sendable {
    /// Everything is told, also gaps and times without a connection.
    public typealias Element = TopicUpdate

    /// The client's engine.
    let engine: Engine
    /// The topic's name.
    let topic: String
    /// The position that the app has kept; `nil` to begin where the topic is.
    let since: Position?
    /// Whether its iterators are told who is at the topic.
    let wantsPresence: Bool
    /// Whether the first state must be that of now.
    var wantsCurrent = false
    /// The key of an event of which only the newest is kept; `nil` keeps all, up to `updatesMax`.
    var latestBy: (@Sendable (TopicEvent) -> String?)?

    /// Of the events that wait, only the newest of each key is kept: for screens, which show how things are.
    public func latest(by key: @escaping @Sendable (TopicEvent) -> String?) -> TopicUpdates {
        var updates = self
        updates.latestBy = key
        return updates
    }

    /// A reader's buffer: beyond its bound what waits is dropped, and told as a gap.
    static func inbox(most: Int, latestBy: (@Sendable (TopicEvent) -> String?)?) -> Inbox<TopicUpdate> {
        Inbox { queue, update in
            if let latestBy, case .event(let event) = update, let key = latestBy(event) {
                queue.removeAll { waiting in
                    if case .event(let other) = waiting { latestBy(other) == key } else { false }
                }
            }
            if queue.count >= most {
                let last = queue.lazy.compactMap(\.position).last
                queue = [.gap(Gap(reason: .tooSlow, missed: nil, position: last))]
            }
            queue.append(update)
        }
    }

    /// Whoever holds it listens; the last one gone leaves the topic.
    final class Listening: Sendable {
        /// The client's engine.
        let engine: Engine
        /// The topic's name.
        let topic: String
        /// The listener's number at the machine.
        let number: Int
        /// What was told and not taken.
        let inbox: Inbox<TopicUpdate>

        /// Joins the topic.
        init(_ updates: TopicUpdates) {
            engine = updates.engine
            topic = updates.topic
            let number = updates.engine.number()
            let inbox = TopicUpdates.inbox(most: engine.options.times.updatesMax, latestBy: updates.latestBy)
            self.number = number
            self.inbox = inbox
            engine.startOnUse()
            engine.state.with { $0.readers[number] = inbox }
            engine.take(
                .join(
                    topic: topic, listener: number, presence: updates.wantsPresence, since: updates.since,
                    wantsCurrent: updates.wantsCurrent))
        }

        deinit {
            let number = self.number
            engine.state.with { _ = $0.readers.removeValue(forKey: number) }
            engine.take(.leave(topic: topic, listener: number))
        }
    }

    /// One reader of a topic.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Leaves the topic with the last copy of this iterator.
        let listening: Listening

        /// The next update.
        public mutating func next() async throws -> TopicUpdate? { try await listening.inbox.next() }
    }

    /// Joins the topic.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(listening: Listening(self)) }
}

/// Who is at a topic, as a sequence of the whole set.
public struct PresenceUpdates: AsyncSequence, Sendable {
    /// Everybody.
    public typealias Element = [Member]

    /// The topic's updates, with presence among them.
    let updates: TopicUpdates

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The topic's iterator, whose other updates are passed over.
        var updates: TopicUpdates.AsyncIterator

        /// The next set.
        public mutating func next() async throws -> [Member]? {
            while let update = try await updates.next() {
                if case .members(let members) = update { return members }
            }
            return nil
        }
    }

    /// Joins the topic.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: updates.makeAsyncIterator()) }
}

/// Registers an inbox with the engine for as long as it is held.
final class Reading<Element: Sendable>: Sendable {
    /// What was told and not taken.
    let inbox: Inbox<Element>
    private let leave: @Sendable () -> Void

    /// Registers an inbox of at most so many elements, the newest, with what `first` begins it.
    init(
        _ engine: Engine, most: Int, first: @Sendable (Engine.State) -> Element?,
        at readers: @escaping @Sendable (inout Engine.State, Int, Inbox<Element>?) -> Void
    ) {
        let number = engine.number()
        let inbox = Inbox<Element> { queue, element in
            if queue.count >= most { queue.removeFirst() }
            queue.append(element)
        }
        engine.state.with { state in
            readers(&state, number, inbox)
            if let element = first(state) { inbox.push(element) }
        }
        self.inbox = inbox
        leave = { engine.state.with { readers(&$0, number, nil) } }
    }

    deinit { leave() }
}

/// How the connection stands, as a sequence: now, and at each change.
public struct StatusUpdates: AsyncSequence, Sendable {
    /// The newest status.
    public typealias Element = Status

    /// The client's engine.
    let engine: Engine

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Unregisters with the last copy of this iterator.
        let reading: Reading<Status>

        /// The next status; `nil` when the reader's task is cancelled.
        public mutating func next() async -> Status? { try? await reading.inbox.next() }
    }

    /// Begins with the present status.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            reading: Reading(engine, most: 1, first: { $0.machine.status }) { state, number, inbox in
                state.statusReaders[number] = inbox
            })
    }
}

/// Answers to kept calls for which nobody waits.
///
/// The oldest go when a thousand wait.
public struct OutboxResults: AsyncSequence, Sendable {
    /// A call and its answer.
    public typealias Element = OutboxResult

    /// The client's engine.
    let engine: Engine

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Unregisters with the last copy of this iterator.
        let reading: Reading<OutboxResult>

        /// The next answer; `nil` when the reader's task is cancelled.
        public mutating func next() async -> OutboxResult? { try? await reading.inbox.next() }
    }

    /// Hears answers from now on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            reading: Reading(engine, most: 1_000, first: { _ in nil }) { state, number, inbox in
                state.resultReaders[number] = inbox
            })
    }
}
