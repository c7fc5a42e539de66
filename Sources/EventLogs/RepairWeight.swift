/// The expected cost of a repair for Redis, from the costs of the last ones.
///
/// The cost of a repair is known only afterwards, but the number in flight must be decided before. After an outage
/// there are thousands of repairs, and they are alike. Most find no events when a master died with little load, and a
/// page each when a link was down for long. Pure.
struct RepairWeight {
    /// Expected microseconds in Redis of the next repair.
    private(set) var us = RepairWeight.unknownUs

    /// The value before the first answer, microseconds.
    static let unknownUs = 200
    /// A repair without events, microseconds: 45 were measured, with a new epoch.
    static let leastUs = 60

    /// Takes the microseconds that the events of a repair have cost; each repair weighs an eighth.
    mutating func took(eventsUs: Int) {
        us += (RepairWeight.leastUs + max(0, eventsUs) - us) / 8
    }
}
