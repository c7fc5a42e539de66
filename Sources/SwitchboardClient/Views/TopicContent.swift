/// The content of a screen about a topic: a value of the app's that events change.
///
/// It knows neither the network nor the screen, so a test of the app tries it with events of its own. ``TopicModel``
/// keeps it up to date.
///
/// ```swift
/// struct Shop: TopicContent {
///     var queue: [Track] = []
///
///     mutating func begin(with state: Session) { queue = state.queue }
///
///     mutating func apply(_ event: ShopEvent) {
///         switch event {
///         case .queue(let update): queue = update.queue
///         case .added(let track): queue.append(track)
///         }
///     }
/// }
/// ```
public protocol TopicContent: Sendable {
    /// The type of the topic's events.
    associatedtype Event: SwitchboardEvent
    /// The type of the topic's state; ``JSONValue`` for a namespace without states.
    associatedtype State: Decodable & Sendable = JSONValue

    /// The content before the first update.
    init()
    /// Replaces the content by the topic's state.
    mutating func begin(with state: State)
    /// Changes the content by the next event.
    mutating func apply(_ event: Event)
}

extension TopicContent where State == JSONValue {
    /// Leaves the content as it is: for namespaces without states.
    public mutating func begin(with state: JSONValue) {}
}
