/// One topic of a client.
struct TopicState: Sendable {
    /// The stage of the subscription on the present connection.
    enum Stage: Sendable, Equatable {
        /// To be subscribed.
        case wanted
        /// Requested. `wasLive`: the connection is subscribed already, and its events count.
        case asked(ref: String, wasLive: Bool)
        /// Subscribed on this connection.
        case live
        /// Refused temporarily.
        case resting(untilMs: Int64)
        /// The unsubscribe has no answer yet.
        case leaving(ref: String)
    }

    /// One iterator.
    struct Listener: Sendable {
        /// The number of the iterator, for `tell` and `leave`.
        let id: Int
        /// Whether it receives presence.
        let wantsPresence: Bool
        /// Whether it has received `live` once, and each event since.
        var isLive = false
    }

    /// The stage of the subscription.
    var stage = Stage.wanted
    /// The topic's readers, in the order in which they joined.
    var listeners: [Listener] = []
    /// The position of the last event that counts as seen.
    var position: TopicPosition?
    /// The latest state from the gateway.
    var state: JSONValue?
    /// The topic's position at that state.
    var stateAt: TopicPosition?
    /// The events since, `sinceMax` at most: a late iterator receives the state and these.
    ///
    /// `nil` when they do not lead from the state to the present.
    var sinceState: [TopicEvent]?
    /// Whether a live topic is requested once more, for presence or for its state.
    var asksAgain = false
    /// Whether it is requested without a position.
    var asksAnew = false
    /// Whether it is requested alone, since a batch with it was refused as a whole.
    var isAlone = false
    /// Events that were received before the answer.
    var early: [Frame] = []
    /// Refusals in a row on this connection; pauses grow with them until the tenth.
    var rests = 0
    /// The time at which the topic is left, since it has no readers; `nil` while it has some.
    var lingerUntilMs: Int64?
    /// The client's presence entry here, as JSON text; `nil` for none.
    var tracked: String?
    /// Whether the last subscribe asked for presence.
    var hasPresence = false
    /// The members present; `nil` while the full list is unknown.
    var members: [TopicMember]?

    /// The most events that wait for an answer; one more, and the topic is requested again after a pause.
    static let earlyMax = 1_000

    /// The most events stored after a state; one more, and a late iterator causes a new request.
    static let sinceMax = 100

    /// Stores an event for late iterators; a topic without a state needs none.
    mutating func keep(_ event: TopicEvent) {
        guard state != nil else { return }
        sinceState?.append(event)
        if sinceState.map({ $0.count > TopicState.sinceMax }) == true { sinceState = nil }
    }

    /// Whether the name is valid: an invalid one would spoil the batch of its request.
    static func isName(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, isLower(first) else { return false }
        return parts[0].count <= 32 && (1...200).contains(parts[1].count)
            && parts[0].allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
            && parts[1].allSatisfy { isLower($0 | 32) && $0 < 128 || isDigit($0) || "._~:-".utf8.contains($0) }
    }

    private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether any reader wants presence.
    var wantsPresence: Bool { listeners.contains { $0.wantsPresence } }

    /// Whether to subscribe; a topic that only lingers is not joined again.
    var isToBeAsked: Bool {
        (stage == .wanted || (stage == .live && asksAgain)) && (!listeners.isEmpty || tracked != nil)
    }

    /// Whether it is requested from its position on.
    var resumes: Bool { position != nil && !asksAnew }

    /// Whether the connection is subscribed, and events are delivered on arrival.
    var isMember: Bool {
        switch stage {
        case .live, .asked(_, wasLive: true): true
        default: false
        }
    }

    /// Resets the topic for another user.
    mutating func forget() {
        position = nil
        state = nil
        sinceState = nil
        members = nil
        for index in listeners.indices { listeners[index].isLive = false }
    }

    /// A `presence` message replaces the list or changes it.
    ///
    /// `nil` while the full list is unknown.
    mutating func apply(presence data: JSONValue) -> [TopicMember]? {
        if let all = data["members"]?.array {
            members = all.compactMap(TopicMember.init)
        } else if var known = members {
            let changed = ((data["joins"]?.array ?? []) + (data["updates"]?.array ?? [])).compactMap(TopicMember.init)
            let gone = Set((data["leaves"]?.array ?? []).compactMap { $0["id"]?.string })
            for member in changed {
                if let index = known.firstIndex(where: { $0.id == member.id }) {
                    known[index] = member
                } else {
                    known.append(member)
                }
            }
            members = known.filter { !gone.contains($0.id) }
        }
        return members
    }
}
