/// What a repair is expected to cost Redis, by what the last ones did.
///
/// What a repair brings is known when it is there, and how many may be in flight has to be known before. After an outage
/// repairs come by the thousand and are alike: most bring nothing when a master died with little load, and a page each when
/// a link was away for long. Pure.
struct RepairWeight {
    /// Microseconds of Redis for the next repair.
    private(set) var us = RepairWeight.unknownUs

    /// Before the first one was answered, microseconds.
    static let unknownUs = 200
    /// A repair that brings nothing, microseconds: 45 were measured, with a new epoch.
    static let leastUs = 60

    /// A repair was answered, and its events have cost so many microseconds; each has an eighth of the say.
    mutating func took(eventsUs: Int) {
        us += (RepairWeight.leastUs + max(0, eventsUs) - us) / 8
    }
}
