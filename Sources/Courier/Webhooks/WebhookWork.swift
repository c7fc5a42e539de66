import Core
import RedisLink

/// What a courier has in hand of one topic for one receiver: a page of its log.
struct WebhookWork {
    /// The topic, and the epoch of the page.
    let topic: Topic
    let epoch: [UInt8]
    /// Events that are to be sent, the next one first; those that the receiver does not take are left out.
    private(set) var events: ArraySlice<WebhookEvent>
    /// The offset up to which the page goes.
    let lastOffset: Int

    /// The greatest offset that scripts give: 2^53 - 1.
    private static let offsetMax = (1 << 53) - 1

    /// Takes a page; `nil` when it is none.
    ///
    /// It begins behind `done`, which is `nil` where no cursor was: then what is older than `sinceMs` was before the receiver.
    init?(
        _ topic: Topic, epoch: [UInt8], done: Int?, last: Int, entries: [RESPValue], patterns: WebhookPatterns,
        sinceMs: Int
    ) {
        let page = entries.map { WebhookEvent($0, epoch: epoch) }
        let found = page.compactMap { $0 }
        let isCounted = ([done ?? 0, last] + found.map(\.offset)).allSatisfy { $0 <= WebhookWork.offsetMax }
        guard isCounted, found.count == page.count, found.allSatisfy({ $0.offset > 0 }) else { return nil }
        self.topic = topic
        self.epoch = epoch
        // Without entries what there was has been trimmed.
        lastOffset = found.last?.offset ?? last
        let fresh = found.filter { done != nil || $0.timeMs >= sinceMs }
        let first = found.first?.offset ?? last + 1
        let isHole = first > (done ?? 0) + 1 && (done != nil || found.first.map { $0.timeMs >= sinceMs } ?? false)
        let gap =
            isHole
            ? [
                WebhookEvent(
                    gapBefore: first, epoch: epoch, missed: first - (done ?? 0) - 1, timeMs: found.first?.timeMs ?? 0)
            ] : []
        events = (gap + fresh.filter { patterns.takes(event: $0.name) })[...]
    }

    /// The next event.
    var next: WebhookEvent? { events.first }

    /// What the cursor says once the next event is done: a gap is done with the event behind it.
    var doneOffset: Int {
        guard let next else { return lastOffset }
        return next.isGap ? next.offset - 1 : next.offset
    }

    /// The next event is done.
    mutating func advance() {
        events = events.dropFirst()
    }
}
