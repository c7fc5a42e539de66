import Core

/// Limits the number of reads of logs under way at once; further reads wait.
///
/// After an outage every topic is read again: a hundred thousand reads would fill the link and delay
/// publishes.
struct ReadGate<Feed: AnyObject> {
    /// The purpose of a read.
    enum Purpose {
        case joining
        case repair
    }

    private let inFlightMax: Int
    private var inFlight = 0
    private var waiting = Ring<(Feed, Purpose, Int)>()

    init(inFlightMax: Int) {
        self.inFlightMax = inFlightMax
    }

    /// Whether the read may start now; otherwise ``next()`` returns it later.
    mutating func enters(_ feed: Feed, for purpose: Purpose, _ read: Int) -> Bool {
        guard inFlight < inFlightMax else {
            waiting.append((feed, purpose, read))
            return false
        }
        inFlight += 1
        return true
    }

    /// A read that entered has ended.
    mutating func leaves() {
        inFlight -= 1
    }

    /// The next waiting read that may start; it counts as entered.
    mutating func next() -> (Feed, Purpose, Int)? {
        guard inFlight < inFlightMax, let first = waiting.popFirst() else { return nil }
        inFlight += 1
        return first
    }
}
