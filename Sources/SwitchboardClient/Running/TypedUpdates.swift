/// The updates of a topic, with events and state as types of the app's, as a sequence.
///
/// It ends and throws as ``TopicUpdates`` does. Data that does not fit the types is an update, and ends nothing. The
/// first such event of each name also goes to ``SwitchboardClient/SwitchboardClient/Options/fault``.
public struct TypedUpdates<Event: SwitchboardEvent, State: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A typed update.
    public typealias Element = TypedUpdate<Event, State>

    /// The topic's updates.
    var updates: TopicUpdates

    /// Queues only the newest waiting event of each key: for screens, which show the present state.
    public func latest(by key: @escaping @Sendable (TopicEvent) -> String?) -> TypedUpdates {
        TypedUpdates(updates: updates.latest(by: key))
    }

    /// One reader of a topic.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The topic's iterator.
        var updates: TopicUpdates.AsyncIterator
        /// The update that follows one about an unreadable state.
        var next: TypedUpdate<Event, State>?
        /// The names of events that were reported; an empty one stands for the state.
        var reported: Set<String> = []

        /// The most names that are reported: 100.
        static var reportedMax: Int { 100 }

        /// The next update.
        public mutating func next() async throws -> TypedUpdate<Event, State>? {
            if let waiting = next {
                next = nil
                return waiting
            }
            guard let update = try await updates.next() else { return nil }
            let typed = TypedUpdate<Event, State>.typed(update)
            if typed.count > 1 { next = typed.last }
            if case .undecodable(let error, let event)? = typed.first { report(error, event) }
            return typed.first
        }

        private mutating func report(_ error: SwitchboardError, _ event: TopicEvent?) {
            guard reported.count < Self.reportedMax, reported.insert(event?.name ?? "").inserted else { return }
            let listening = updates.listening
            let subject = event.map { "the event \($0.name)" } ?? "the state"
            listening.engine.options.fault("\(listening.topic): \(subject) does not fit its type. \(error)")
        }
    }

    /// Joins the topic.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: updates.makeAsyncIterator()) }
}

extension SwitchboardClient {
    /// All updates of a topic, in order, with its events as a type of the app's.
    ///
    /// - Parameters:
    ///   - topic: the topic, such as `shop:42`.
    ///   - type: the type of its events.
    ///   - since: the position that the app has stored, to receive exactly the events after it.
    public func events<Event: SwitchboardEvent>(
        of topic: String, as type: Event.Type, since: TopicPosition? = nil
    ) -> TypedUpdates<Event, JSONValue> {
        TypedUpdates(updates: events(of: topic, since: since))
    }

    /// All updates of a topic, in order, with its events and its state as types of the app's.
    ///
    /// - Parameters:
    ///   - topic: the topic, such as `shop:42`.
    ///   - type: the type of its events.
    ///   - state: the type of its state, for namespaces that have one.
    ///   - since: the position that the app has stored, to receive exactly the events after it.
    public func events<Event: SwitchboardEvent, State: Decodable & Sendable>(
        of topic: String, as type: Event.Type, state: State.Type, since: TopicPosition? = nil
    ) -> TypedUpdates<Event, State> {
        TypedUpdates(updates: events(of: topic, since: since))
    }
}
