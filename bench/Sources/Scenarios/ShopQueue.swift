/// One shop whose booking is confirmed and taken back in turn, one change at a time, and who has heard of it.
struct ShopQueue {
    /// How a change is made.
    enum Way: String, CaseIterable, Codable {
        /// The gateway's command `move_booking`: the booking is confirmed.
        case command
        /// The booking is written straight into Redis, as a backend would: it is pending again.
        case redis
    }

    /// A change under way.
    struct Change: Equatable {
        var way: Way
        var dueUs: Int
        /// What the queue's length is with it.
        var length: Int
    }

    /// The way of the next change.
    private(set) var way = Way.command
    private(set) var change: Change?
    /// Subscribers that have not heard of it.
    private var waiting: Set<Int> = []
    /// Whether the change itself was answered.
    private var isAnswered = true

    /// Begins a change that is to reach some subscribers; `nil` while another is under way.
    mutating func begin(dueUs: Int, subscribers: Set<Int>) -> Change? {
        guard change == nil, isAnswered else { return nil }
        let begun = Change(way: way, dueUs: dueUs, length: way == .command ? 1 : 0)
        (change, waiting, isAnswered) = (begun, subscribers, false)
        way = way == .command ? .redis : .command
        return begun
    }

    /// A subscriber heard of a length: the change that this tells it for the first time, and whether it was the last to
    /// hear of it.
    mutating func heard(_ subscriber: Int, length: Int) -> (change: Change, isLast: Bool)? {
        guard let change, change.length == length, waiting.remove(subscriber) != nil else { return nil }
        let isLast = waiting.isEmpty
        finish()
        return (change, isLast)
    }

    /// The change was answered, whether or not it was taken; when it was refused nobody will hear of it.
    ///
    /// Returns how many subscribers it will not reach.
    mutating func answered(isRefused: Bool) -> Int {
        isAnswered = true
        let none = isRefused ? waiting.count : 0
        if isRefused { waiting = [] }
        finish()
        return none
    }

    /// Gives up a change that is older than it may be; returns how many have not heard of it.
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
