import Core

/// The topics that a user's own topic follows: joined by the gateway, told to the client as events of its own topic.
///
/// A post is published once, on its author's topic; whoever follows the author has joined that topic here, so that the
/// publish costs the same however many follow. The set `<topic>#follows` says what is followed; an event
/// `follows:changed` on the own topic says that it changed. Events told this way bear no offset, since they have no
/// place in the own topic's log; a hole is told by `gap` without a position. Pure.
struct Followings {
    /// How the session stands on a followed topic.
    enum Standing {
        /// Not joined: the client has joined it itself, or it could not be joined yet.
        case waiting
        case joining
        case live
    }

    /// The read of the set.
    enum Reading: Equatable {
        case none
        /// Under way; `isStale`: the set has changed since.
        case underway(number: Int, isStale: Bool)
        /// Wanted as soon as it can be paid, monotonic milliseconds.
        case due(atMs: Int)
    }

    /// The own topic.
    let topic: Topic
    /// Every topic of the set that the user may join.
    private(set) var standings: [Topic: Standing] = [:]
    var reading = Reading.none
    /// Whether everything that could be joined at first was.
    var isStarted = false
    /// Whether the client was told that it has the own topic: from then on it gets what that follows.
    var isHeard = false
    /// When topics that wait are tried again.
    var retryMs = Int.max
    private var joiningCount = 0
    /// Topics that could not be joined: events of theirs are missing when they are.
    private var missed: Set<Topic> = []

    init(_ topic: Topic) {
        self.topic = topic
    }

    /// When something is to be done, monotonic milliseconds.
    var dueMs: Int {
        if case .due(let atMs) = reading { return min(atMs, retryMs) }
        return retryMs
    }

    /// Whether everything that can be joined now has been.
    var isSettled: Bool { reading == .none && joiningCount == 0 }

    /// Whether the session is on that topic only because its own follows it.
    func owns(_ topic: Topic) -> Bool {
        switch standings[topic] {
        case .joining, .live: true
        case .waiting, nil: false
        }
    }

    /// The client joins the topic itself; true when it has to be left for that.
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

    /// The topics that wait, but for those that the client holds itself; in an order that does not depend on chance.
    func waiting(except isHeld: (Topic) -> Bool) -> [Topic] {
        standings.compactMap { $0.value == .waiting && !isHeld($0.key) ? $0.key : nil }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    mutating func joins(_ topic: Topic) {
        set(topic, .joining)
    }

    /// The session is live on a followed topic; true when events of it may be missing.
    mutating func joined(_ topic: Topic) -> Bool {
        guard standings[topic] == .joining else { return false }
        set(topic, .live)
        return missed.remove(topic) != nil
    }

    /// A followed topic could not be joined; false when it was not asked for.
    mutating func refused(_ topic: Topic) -> Bool {
        guard standings[topic] == .joining else { return false }
        set(topic, .waiting)
        missed.insert(topic)
        return true
    }

    /// What has to be left when it all ends.
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
