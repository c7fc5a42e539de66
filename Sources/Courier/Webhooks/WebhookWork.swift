import Core
import RedisLink

/// A page of one topic's log that a courier sends to one receiver.
struct WebhookWork {
    /// The topic, and the epoch of the page.
    let topic: Topic
    let epoch: [UInt8]
    /// The events to send, the next one first; those that the receiver does not want are left out.
    private(set) var events: ArraySlice<WebhookEvent>
    /// The offset at which the page ends.
    let lastOffset: Int

    /// The greatest offset that scripts give: 2^53 - 1.
    private static let offsetMax = (1 << 53) - 1

    /// Takes a page; `nil` when it is malformed.
    ///
    /// It begins after `done`, which is `nil` without a cursor: then events before the first one of `sinceMs` or later
    /// precede the receiver. `before` is the receiver's position in another epoch, which may have had further events.
    /// `wallMs` is the time of a gap without an event after it.
    init?(
        _ topic: Topic, epoch: [UInt8], done: Int?, last: Int, entries: [RESPValue], patterns: WebhookPatterns,
        sinceMs: Int, before: WebhookPlace? = nil, wallMs: Int = 0
    ) {
        let page = entries.map { WebhookEvent($0, epoch: epoch) }
        let found = page.compactMap { $0 }
        let isCounted = ([done ?? 0, last, before?.offset ?? 0] + found.map(\.offset)).allSatisfy {
            $0 <= WebhookWork.offsetMax
        }
        guard isCounted, found.count == page.count, found.allSatisfy({ $0.offset > 0 }) else { return nil }
        self.topic = topic
        self.epoch = epoch
        // Without entries, all events up to `last` were trimmed.
        lastOffset = found.last?.offset ?? last
        let isKnown = done != nil || before != nil
        let fresh = isKnown ? found[...] : found.drop { $0.timeMs < sinceMs }
        let first = found.first?.offset ?? last + 1
        // Remaining older events precede the receiver, and so do the events before them.
        let isHole = before != nil || first > (done ?? 0) + 1 && fresh.count == found.count
        let gap = WebhookEvent(
            gapBefore: first, epoch: epoch, after: before ?? WebhookPlace(epoch: epoch, offset: done ?? 0),
            isCounted: before == nil, timeMs: found.first?.timeMs ?? wallMs)
        events = ((isHole ? [gap] : []) + fresh.filter { patterns.takes(event: $0.name) })[...]
    }

    /// The next event.
    var next: WebhookEvent? { events.first }

    /// The offset of the cursor once the next event is done: a gap is done with the event after it.
    var doneOffset: Int {
        guard let next else { return lastOffset }
        return next.isGap ? next.offset - 1 : next.offset
    }

    /// The next event is done.
    mutating func advance() {
        events = events.dropFirst()
    }
}
