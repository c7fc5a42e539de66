public import Core

/// The event that a question is about, as far as its fates depend on it.
public struct TracedPosition: Sendable {
    /// Its position.
    public let position: Position
    /// Whether it was published while the record is whole.
    public let isRecent: Bool

    /// Makes the event of a question.
    public init(_ position: Position, isRecent: Bool) {
        self.position = position
        self.isRecent = isRecent
    }
}

extension TracedSession {
    /// The fate of an event for one of the session's subscriptions.
    ///
    /// `written` needs a record that would know of the contrary.
    public func fate(of event: TracedPosition, on stay: TopicStay) -> EventFate {
        let fate = stay.fate(of: event.position)
        switch fate {
        case .written, .recovered:
            // An event of a followed topic is handed on without a position: nothing tells when it was written.
            if stay.isFollowed || isFull { return .unknown }
            return stay.at == nil && !event.isRecent ? .unknown : fate
        case .otherEpoch: return stay.at == nil ? .unknown : fate
        default: return fate
        }
    }

    /// Whether a fate is certain: the record may name a range alone, and an event may be the session's own.
    public func isSure(_ fate: EventFate) -> Bool {
        switch fate {
        case .conflated(_, let isSure): isSure
        case .written: !isExcluding
        default: true
        }
    }

    /// Adds the state of a live subscription; one that the record does not know began before it.
    public mutating func stands(_ standing: TopicStay.Standing, on topic: Topic, gaps: [TopicStay.Gap]) {
        if let last = stays.lastIndex(where: { $0.topic == topic }) {
            // It may have ended since.
            if stays[last].end == nil { stays[last].now = standing }
            return
        }
        var stay = TopicStay(topic: topic)
        (stay.now, stay.isFollowed, stay.gaps) = (standing, standing.isFollowed, gaps)
        stays.append(stay)
    }
}
