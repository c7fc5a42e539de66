/// One shop whose booking is confirmed and reset in turn, one change at a time, and the subscribers that received it.
struct ShopQueue {
    /// The way in which a change is made.
    enum Way: String, CaseIterable, Codable {
        /// The gateway's command `move_booking`: the booking is confirmed.
        case command
        /// The booking is written directly into Redis, as a backend would: it is pending again.
        case redis
    }

    /// A change under way.
    struct Change: Equatable {
        var way: Way
        var dueUs: Int
        /// The queue's length after the change.
        var length: Int
    }

    /// The way of the next change.
    private(set) var way = Way.command
    private(set) var change: Change?
    /// Subscribers that have not received it.
    private var waiting: Set<Int> = []
    /// Whether the change itself was answered.
    private var isAnswered = true

    /// Starts a change for some subscribers; `nil` while another is under way.
    mutating func begin(dueUs: Int, subscribers: Set<Int>) -> Change? {
        guard change == nil, isAnswered else { return nil }
        let begun = Change(way: way, dueUs: dueUs, length: way == .command ? 1 : 0)
        (change, waiting, isAnswered) = (begun, subscribers, false)
        way = way == .command ? .redis : .command
        return begun
    }

    /// Takes a length that a subscriber received.
    ///
    /// Returns the change that it shows for the first time, and whether the subscriber was the last one.
    mutating func heard(_ subscriber: Int, length: Int) -> (change: Change, isLast: Bool)? {
        guard let change, change.length == length, waiting.remove(subscriber) != nil else { return nil }
        let isLast = waiting.isEmpty
        finish()
        return (change, isLast)
    }

    /// Takes the answer to the change; a refused change reaches no subscriber.
    ///
    /// Returns how many subscribers it will not reach.
    mutating func answered(isRefused: Bool) -> Int {
        isAnswered = true
        let none = isRefused ? waiting.count : 0
        if isRefused { waiting = [] }
        finish()
        return none
    }

    /// Gives up a change that is too old; returns how many subscribers have not received it.
    mutating func giveUp(nowUs: Int, afterUs: Int) -> Int {
        guard let change, nowUs - change.dueUs > afterUs, isAnswered else { return 0 }
        let missing = waiting.count
        waiting = []
        finish()
        return missing
    }

    private mutating func finish() {
        if isAnswered, waiting.isEmpty { change = nil }
    }
}
