import Core

/// Lets so many reads of logs be under way at once; the others wait for their turn.
///
/// After an outage every topic is read again (failures.md R16): a hundred thousand reads would fill the link for
/// whoever publishes.
struct ReadGate<Feed: AnyObject> {
    /// What a read is for.
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

    /// Whether the read may be made now; otherwise ``next()`` tells when.
    mutating func enters(_ feed: Feed, for purpose: Purpose, _ read: Int) -> Bool {
        guard inFlight < inFlightMax else {
            waiting.append((feed, purpose, read))
            return false
        }
        inFlight += 1
        return true
    }

    /// A read that entered is over.
    mutating func leaves() {
        inFlight -= 1
    }

    /// The next read that may be made; it has entered.
    mutating func next() -> (Feed, Purpose, Int)? {
        guard inFlight < inFlightMax, let first = waiting.popFirst() else { return nil }
        inFlight += 1
        return first
    }
}
