/// The events of a topic as a type of the app's: usually an enum with a case for each name.
///
/// ```swift
/// enum ShopEvent: SwitchboardEvent {
///     case queue(Queue)
///     case added(Track)
///
///     init?(_ event: TopicEvent) throws {
///         switch event.name {
///         case "queue:update": self = .queue(try event.decode())
///         case "track:added": self = .added(try event.decode())
///         default: return nil
///         }
///     }
/// }
/// ```
///
/// `switchboard types swift` writes the types of the data.
public protocol SwitchboardEvent: Sendable {
    /// The event as this type.
    ///
    /// It is `nil` for an event that the type does not name, and throws for data of another form.
    init?(_ event: TopicEvent) throws
}

/// One update of a topic, with events and state as types of the app's.
public enum TypedUpdate<Event: Sendable, State: Sendable>: Sendable {
    /// The topic is live.
    ///
    /// As ``TopicUpdate/live(state:recovered:position:)``, with the state decoded.
    case live(state: State?, recovered: Bool, position: TopicPosition?)
    /// An event, and its position; `nil` for an event that is delivered at most once.
    case event(Event, at: TopicPosition?)
    /// An event that the app's type does not name.
    case unknown(TopicEvent)
    /// Data that does not fit the app's types, and the event that it belongs to.
    ///
    /// For a state the event is `nil`, and a `live` without a state follows. The sequence goes on.
    case undecodable(SwitchboardError, TopicEvent?)
    /// Events are missing here.
    case gap(TopicGap)
    /// Not live for now: offline, or refused temporarily. The client retries by itself.
    case pending(SwitchboardError?)
    /// The members present: the full list, after each change.
    case members([TopicMember])
}

extension TypedUpdate: Equatable where Event: Equatable, State: Equatable {}
extension TypedUpdate: Hashable where Event: Hashable, State: Hashable {}

extension TypedUpdate {
    /// The typed form of an update: two for a state that does not fit its type, otherwise one.
    static func typed(_ update: TopicUpdate) -> [TypedUpdate] where Event: SwitchboardEvent, State: Decodable {
        switch update {
        case .gap(let gap): return [.gap(gap)]
        case .pending(let error): return [.pending(error)]
        case .members(let members): return [.members(members)]
        case .event(let event):
            do {
                guard let known = try Event(event) else { return [.unknown(event)] }
                return [.event(known, at: event.position)]
            } catch {
                let reason = error as? SwitchboardError ?? SwitchboardError(.undecodable, "\(error)")
                return [.undecodable(reason, event)]
            }
        case .live(nil, let recovered, let position):
            return [.live(state: nil, recovered: recovered, position: position)]
        case .live(let state?, let recovered, let position):
            do {
                return [.live(state: try state.decode(), recovered: recovered, position: position)]
            } catch {
                return [.undecodable(error, nil), .live(state: nil, recovered: recovered, position: position)]
            }
        }
    }
}
