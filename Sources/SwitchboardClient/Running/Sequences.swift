/// The updates of a topic, as a sequence.
///
/// Each iterator has its own bounded buffer. It ends when its task is cancelled or the client stopped, and throws when
/// the gateway refuses the topic for good.
public struct TopicUpdates: AsyncSequence, Sendable {
    /// An update; gaps and times without a connection are updates as well.
    public typealias Element = TopicUpdate

    /// The client's engine.
    let engine: Engine
    /// The topic's name.
    let topic: String
    /// The position that the app has stored; `nil` to begin at the topic's present position.
    let since: TopicPosition?
    /// Whether its iterators receive presence.
    let wantsPresence: Bool
    /// Whether the first state must be the present one.
    var wantsCurrent = false
    /// The key of an event of which only the newest is queued; `nil` queues all, up to `updatesMax`.
    var latestBy: (@Sendable (TopicEvent) -> String?)?

    /// Queues only the newest waiting event of each key: for screens, which show the present state.
    public func latest(by key: @escaping @Sendable (TopicEvent) -> String?) -> TopicUpdates {
        var updates = self
        updates.latestBy = key
        return updates
    }

    /// A reader's buffer: beyond its limit the waiting updates are dropped and replaced by a gap.
    static func inbox(most: Int, latestBy: (@Sendable (TopicEvent) -> String?)?) -> Inbox<TopicUpdate> {
        Inbox { queue, update in
            if let latestBy, case .event(let event) = update, let key = latestBy(event) {
                queue.removeAll { waiting in
                    if case .event(let other) = waiting { latestBy(other) == key } else { false }
                }
            }
            if queue.count >= most {
                let last = queue.lazy.compactMap(\.position).last
                queue = [.gap(TopicGap(reason: .tooSlow, missed: nil, position: last))]
            }
            queue.append(update)
        }
    }

    /// Listens as long as it is referenced; the end of the last one leaves the topic.
    final class Listening: Sendable {
        /// The client's engine.
        let engine: Engine
        /// The topic's name.
        let topic: String
        /// The listener's number in the machine.
        let number: Int
        /// Updates that wait for the reader.
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

/// The members present at a topic, as a sequence of full lists.
public struct PresenceUpdates: AsyncSequence, Sendable {
    /// All members.
    public typealias Element = [TopicMember]

    /// The topic's updates, with presence among them.
    let updates: TopicUpdates

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The topic's iterator, whose other updates are skipped.
        var updates: TopicUpdates.AsyncIterator

        /// The next list.
        public mutating func next() async throws -> [TopicMember]? {
            while let update = try await updates.next() {
                if case .members(let members) = update { return members }
            }
            return nil
        }
    }

    /// Joins the topic.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: updates.makeAsyncIterator()) }
}

/// Registers an inbox with the engine as long as this object is referenced.
final class Reading<Element: Sendable>: Sendable {
    /// Elements that wait for the reader.
    let inbox: Inbox<Element>
    private let leave: @Sendable () -> Void

    /// Registers an inbox of the newest `most` elements, which begins with the result of `first`.
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

/// The status of the connection, as a sequence: now, and at each change.
public struct StatusUpdates: AsyncSequence, Sendable {
    /// The newest status.
    public typealias Element = ConnectionStatus

    /// The client's engine.
    let engine: Engine

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Unregisters with the last copy of this iterator.
        let reading: Reading<ConnectionStatus>

        /// The next status; `nil` when the reader's task is cancelled.
        public mutating func next() async -> ConnectionStatus? { try? await reading.inbox.next() }
    }

    /// Begins with the present status.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            reading: Reading(engine, most: 1, first: { $0.machine.status }) { state, number, inbox in
                state.statusReaders[number] = inbox
            })
    }
}

/// Answers to kept calls without a waiting caller.
///
/// Beyond a thousand waiting answers the oldest are dropped.
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

    /// Receives answers from now on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            reading: Reading(engine, most: 1_000, first: { _ in nil }) { state, number, inbox in
                state.resultReaders[number] = inbox
            })
    }
}
