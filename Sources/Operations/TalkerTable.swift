/// The figures of one caller.
public struct TalkerFigures: Equatable, Sendable {
    /// Events published.
    public var events: Int
    /// Bytes of their data.
    public var bytes: Int
    /// Requests and messages refused by a rate or a budget.
    public var refusals: Int
    /// Microseconds of Redis that were charged.
    public var redisUs: Int

    /// Figures; without arguments, none.
    public init(events: Int = 0, bytes: Int = 0, refusals: Int = 0, redisUs: Int = 0) {
        (self.events, self.bytes, self.refusals, self.redisUs) = (events, bytes, refusals, redisUs)
    }

    /// One number for all, by which callers are compared: about microseconds.
    var weight: Int { redisUs &+ 100 &* (events &+ refusals) &+ bytes >> 8 }

    static func + (left: TalkerFigures, right: TalkerFigures) -> TalkerFigures {
        TalkerFigures(
            events: left.events &+ right.events, bytes: left.bytes &+ right.bytes,
            refusals: left.refusals &+ right.refusals, redisUs: left.redisUs &+ right.redisUs)
    }
}

/// The callers that ask most, counted in a fixed number of places (the space-saving algorithm).
///
/// A caller without a place takes that of the lightest one, and inherits its weight as a possible error. So a heavy
/// caller always has a place, however many light ones there are. Pure.
struct TalkerTable<Key: Hashable & Sendable>: Sendable {
    private struct Place {
        var key: Key
        var figures: TalkerFigures
        var weight: Int
    }

    private let capacity: Int
    private var places: [Place] = []
    private var index: [Key: Int] = [:]

    /// Counts at most `capacity` callers.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Adds figures of a caller.
    ///
    /// *Complexity*: O(1) for a caller that has a place, O(capacity) for one that needs another's.
    mutating func add(_ figures: TalkerFigures, of key: Key) {
        if let place = index[key] {
            places[place].figures = places[place].figures + figures
            places[place].weight &+= figures.weight
            return
        }
        guard places.count == capacity else {
            index[key] = places.count
            places.append(Place(key: key, figures: figures, weight: figures.weight))
            return
        }
        var lightest = 0
        for place in places.indices where places[place].weight < places[lightest].weight { lightest = place }
        index[places[lightest].key] = nil
        index[key] = lightest
        places[lightest] = Place(key: key, figures: figures, weight: places[lightest].weight &+ figures.weight)
    }

    /// The callers with their figures since they have a place.
    var all: [(key: Key, figures: TalkerFigures)] { places.map { ($0.key, $0.figures) } }
}
