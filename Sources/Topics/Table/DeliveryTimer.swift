import Core
import Operations

/// Times publishes of this node until their events are written to the members here; one at a time.
///
/// Pure: no I/O, and time is a parameter.
struct DeliveryTimer<Feed: AnyObject> {
    private enum State {
        case idle
        /// The event has not come yet.
        case awaited(TimedPublishes.Publish)
        /// The event has come, and some members may not have it yet.
        case handing(Feed, number: Int, readUs: Int)
    }

    private var state = State.idle
    /// The number of the last publish that was looked at.
    private var seen = 0

    /// The longest latency, microseconds; beyond it another publish had the same data.
    private static var patienceUs: Int { 10_000_000 }

    /// Whether an event that comes now may be the timed one; `number` is that of the newest publish.
    func isConcerned(_ number: Int) -> Bool {
        switch state {
        case .idle: number != seen
        case .awaited: true
        case .handing: false
        }
    }

    /// Looks at an event for members: it has that number in the topic's fan-out.
    mutating func came(
        _ message: ChannelMessage, of topic: Topic, _ feed: Feed, number: Int, _ publishes: TimedPublishes
    ) {
        let newest = publishes.number
        if newest != seen {
            seen = newest
            state = publishes.latest.map { State.awaited($0) } ?? .idle
        }
        guard case .awaited(let publish) = state, publish.topic == topic, publish.data == message.data else { return }
        state = .handing(feed, number: number, readUs: publish.readUs)
    }

    /// Whether ``ended(nowUs:isHanded:)`` has something to do.
    var isHanding: Bool { if case .handing = state { true } else { false } }

    /// The end of a tick: the latency in microseconds once all members have the event.
    mutating func ended(nowUs: Int, isHanded: (Feed, Int) -> Bool) -> Int? {
        guard case .handing(let feed, let number, let readUs) = state else { return nil }
        let isLate = nowUs - readUs > DeliveryTimer.patienceUs
        guard isLate || isHanded(feed, number) else { return nil }
        state = .idle
        return isLate ? nil : nowUs - readUs
    }
}
