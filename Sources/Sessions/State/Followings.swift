import Core

/// The topics that a user's own topic follows: the gateway joins them, and sends their events as those of the own
/// topic.
///
/// An author's topic holds each post once. The sessions of all followers have joined that topic here, so that a publish
/// costs the same however many follow. The set `<topic>#follows` lists the followed topics; an event `follows:changed`
/// on the own topic reports that it changed. Events sent this way bear no offset, since they have no place in the own
/// topic's log. A hole is reported by a `gap` without a position. Pure.
struct Followings {
    /// State of the session on a followed topic.
    enum Standing {
        /// Not joined: the client has joined the topic itself, or joining it failed.
        case waiting
        case joining
        case live
    }

    /// The read of the set.
    enum Reading: Equatable {
        case none
        /// Under way; `isStale`: the set has changed since.
        case underway(number: Int, isStale: Bool)
        /// To be read at this time, when the budget allows it, monotonic milliseconds.
        case due(atMs: Int)
    }

    /// The own topic.
    let topic: Topic
    /// Every topic of the set that the user may join.
    private(set) var standings: [Topic: Standing] = [:]
    var reading = Reading.none
    /// Whether everything that could be joined at first was.
    var isStarted = false
    /// Whether the client has received `subscribed` for the own topic; from then on it receives events of followed
    /// topics.
    var isHeard = false
    /// The time at which topics that wait are tried again, monotonic milliseconds.
    var retryMs = Int.max
    private var joiningCount = 0
    /// Topics that could not be joined: some of their events are missing once they are joined.
    private var missed: Set<Topic> = []

    init(_ topic: Topic) {
        self.topic = topic
    }

    /// The time of the next read or retry, monotonic milliseconds.
    var dueMs: Int {
        if case .due(let atMs) = reading { return min(atMs, retryMs) }
        return retryMs
    }

    /// Whether no read and no join is under way.
    var isSettled: Bool { reading == .none && joiningCount == 0 }

    /// Whether the session is on that topic only because its own follows it.
    func owns(_ topic: Topic) -> Bool {
        switch standings[topic] {
        case .joining, .live: true
        case .waiting, nil: false
        }
    }

    /// Gives a topic to the client, which joins it itself; true when the session has to leave it for that.
    mutating func yields(_ topic: Topic) -> Bool {
        guard owns(topic) else { return false }
        set(topic, .waiting)
        return true
    }

    /// Takes the set as it is now; returns the topics to leave.
    mutating func take(_ wanted: [Topic]) -> [Topic] {
        let gone = Set(standings.keys).subtracting(wanted)
        let left = gone.filter { owns($0) }.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        for topic in gone { set(topic, nil) }
        for topic in wanted where standings[topic] == nil { standings[topic] = .waiting }
        return left
    }

    /// The topics that wait, without those that the client holds itself; sorted, so that the order is deterministic.
    func waiting(except isHeld: (Topic) -> Bool) -> [Topic] {
        standings.compactMap { $0.value == .waiting && !isHeld($0.key) ? $0.key : nil }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    mutating func joins(_ topic: Topic) {
        set(topic, .joining)
    }

    /// The session is live on a followed topic; true when some of its events may be missing.
    mutating func joined(_ topic: Topic) -> Bool {
        guard standings[topic] == .joining else { return false }
        set(topic, .live)
        return missed.remove(topic) != nil
    }

    /// A followed topic could not be joined; false when the session was not joining it.
    mutating func refused(_ topic: Topic) -> Bool {
        guard standings[topic] == .joining else { return false }
        set(topic, .waiting)
        missed.insert(topic)
        return true
    }

    /// The topics to leave when following ends.
    var owned: [Topic] {
        standings.compactMap { $0.value == .waiting ? nil : $0.key }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private mutating func set(_ topic: Topic, _ standing: Standing?) {
        if standings[topic] == .joining { joiningCount -= 1 }
        if standing == .joining { joiningCount += 1 }
        if standing == nil { missed.remove(topic) }
        standings[topic] = standing
    }
}
