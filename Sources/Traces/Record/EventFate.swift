public import Core

/// The fate of one event for one subscription.
public enum EventFate: Equatable, Sendable {
    /// It was written to the client's connection, as far as positions tell.
    case written
    /// It was sent with the answer, since the client asked to continue from an earlier position, and written.
    case recovered
    /// It waits for the client.
    case waiting
    /// It has not come to this node yet.
    case coming
    /// The client had it before: it asked to continue from a later position.
    case had(Position)
    /// The client joined after it.
    case joinedLater
    /// The client asked to continue from a position that the log did not reach back to, and was told so.
    case lostAtJoin(Position)
    /// The client asked to continue from a position of another epoch, and was told so.
    case otherEpochAtJoin(Position)
    /// The subscription was in another epoch.
    case otherEpoch(Position)
    /// A newer event replaced it; `isSure` is false where the record names only the range.
    case conflated(atMs: Int, isSure: Bool)
    /// The client received a `gap` for it.
    case gap(TopicStay.Gap)
    /// It was handed to the session, and not written before the end.
    case unsent
    /// The subscription ended before it.
    case leftBefore
    /// The record does not tell.
    case unknown
}

extension TopicStay {
    /// The fate of an event.
    public func fate(of event: Position) -> EventFate {
        if let at, let fate = fate(of: event, answeredAt: at) { return fate }
        if let fate = lost(event) { return fate }
        let isBacklog = at.map { $0.epoch == event.epoch && event.offset <= $0.offset } ?? false
        let delivered = isBacklog ? EventFate.recovered : .written
        if let now { return fate(of: event, now, delivered) }
        guard let end else { return .unknown }
        let reached = reached(in: event.epoch, end.handed)
        let isHanded = end.handed == nil || reached.map { event.offset <= $0.offset } ?? false
        if let unsent, isHanded, follows(event, unsent) { return .unsent }
        guard let handed = end.handed else { return .unknown }
        if isBacklog { return delivered }
        guard reached != nil else { return .otherEpoch(handed) }
        return isHanded ? delivered : .leftBefore
    }

    /// The position up to which events of an epoch were handed to the session; a reset ends an epoch.
    private func reached(in epoch: [UInt8], _ handed: Position?) -> Position? {
        if let handed, handed.epoch == epoch { return handed }
        return gaps.last { $0.isReset && $0.from?.epoch == epoch }?.from
    }

    /// Whether an event is this one or a later one of the topic.
    private func follows(_ event: Position, _ first: Position) -> Bool {
        if event.epoch == first.epoch { return event.offset >= first.offset }
        return gaps.contains { $0.isReset && $0.from?.epoch == first.epoch && $0.to.epoch == event.epoch }
    }

    /// The fate of an event that came before the answer, or that is of another epoch; `nil`: it came after.
    private func fate(of event: Position, answeredAt at: Position) -> EventFate? {
        guard at.epoch == event.epoch else {
            return gaps.contains { $0.isReset && $0.to.epoch == event.epoch } ? nil : .otherEpoch(at)
        }
        guard event.offset <= at.offset else { return nil }
        guard let since else { return .joinedLater }
        guard since.epoch == event.epoch else { return .otherEpochAtJoin(since) }
        if event.offset <= since.offset { return .had(since) }
        return isRecovered ? nil : .lostAtJoin(since)
    }

    /// The fate of an event that was taken out of the queue, or that the client was told to have missed.
    private func lost(_ event: Position) -> EventFate? {
        for one in conflated where one.epoch == event.epoch {
            guard let index = one.ranges.firstIndex(where: { $0.contains(event.offset) }) else { continue }
            return .conflated(atMs: one.atMs, isSure: one.isWhole || index < one.ranges.count - 1)
        }
        for gap in gaps {
            guard let from = gap.from, from.epoch == event.epoch, event.offset > from.offset else { continue }
            if gap.isReset || gap.to.epoch == event.epoch && event.offset <= gap.to.offset { return .gap(gap) }
        }
        return nil
    }

    private func fate(of event: Position, _ now: Standing, _ delivered: EventFate) -> EventFate {
        let reached = reached(in: event.epoch, now.handed)
        let isHanded = now.handed == nil || reached.map { event.offset <= $0.offset } ?? false
        if let waiting = now.waiting, isHanded, follows(event, waiting) { return .waiting }
        guard let handed = now.handed else { return .unknown }
        guard reached != nil else { return .otherEpoch(handed) }
        return isHanded ? delivered : .coming
    }
}
