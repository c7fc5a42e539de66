import Core
import Operations

/// Times publishes of this node until their events are written to the members here.
///
/// A newer publish never takes the place of an older one: then the slow ones would not be counted. Pure: no I/O, and
/// time is a parameter.
struct DeliveryTimer<Feed: AnyObject> {
    /// Publishes whose events have not come yet, the oldest first.
    private var awaited: [(feed: Feed, publish: TimedPublishes.Publish)] = []
    /// Events that have come, and that some members may not have yet: their numbers in the topics' fan-outs.
    private var handing: [(feed: Feed, number: Int, readUs: Int)] = []
    /// The number of the last publish that was looked at.
    private var seen = 0

    /// The longest wait for an event, microseconds; until then it is counted however late it comes.
    ///
    /// The event of a publish that failed, or that repeated another one, never comes.
    static var patienceUs: Int { 60_000_000 }
    /// The most publishes awaited; further ones are not timed.
    static var awaitedMax: Int { 64 }

    /// Whether an event that comes now may be a timed one; `number` is that of the newest publish.
    func isConcerned(_ number: Int) -> Bool { number != seen || !awaited.isEmpty }

    /// Takes the new publishes for topics that have members here: those whose feed is not `nil`.
    mutating func look(at publishes: TimedPublishes, nowUs: Int, feedOf: (Topic) -> Feed?) {
        let earliestUs = nowUs - DeliveryTimer.patienceUs
        awaited.removeAll { $0.publish.readUs < earliestUs }
        guard publishes.number != seen else { return }
        let (new, number) = publishes.taken(after: seen)
        seen = number
        for publish in new where publish.readUs >= earliestUs && awaited.count < DeliveryTimer.awaitedMax {
            if let feed = feedOf(publish.topic) { awaited.append((feed, publish)) }
        }
    }

    /// Looks at an event for members: it has that number in the topic's fan-out.
    mutating func came(_ message: ChannelMessage, _ feed: Feed, number: Int) {
        guard let place = awaited.firstIndex(where: { $0.feed === feed && $0.publish.isOf(message) }) else { return }
        handing.append((feed, number, awaited.remove(at: place).publish.readUs))
    }

    /// Whether ``ended(nowUs:isHanded:record:)`` has something to do.
    var isHanding: Bool { !handing.isEmpty }

    /// The end of a tick: records the latency in microseconds of each event that all members have.
    mutating func ended(nowUs: Int, isHanded: (Feed, Int) -> Bool, record: (Int) -> Void) {
        handing.removeAll { event in
            guard isHanded(event.feed, event.number) else { return false }
            record(nowUs - event.readUs)
            return true
        }
    }
}
