/// One topic of a client.
struct TopicState: Sendable {
    /// Where the subscription stands on the present connection.
    enum Stage: Sendable, Equatable {
        /// To be asked for.
        case wanted
        /// Asked for. `wasLive`: the connection is a member already, and its events count.
        case asked(ref: String, wasLive: Bool)
        /// By an answer on this connection.
        case live
        /// Refused for now.
        case resting(untilMs: Int64)
        /// An unsubscribe has no answer yet.
        case leaving(ref: String)
    }

    /// One iterator.
    struct Listener: Sendable {
        /// The number of the iterator, for `tell` and `leave`.
        let id: Int
        /// Whether it is told who is at the topic.
        let wantsPresence: Bool
        /// Whether it was told `live` once, and each event since.
        var isLive = false
    }

    /// Where the subscription stands.
    var stage = Stage.wanted
    /// Who reads the topic, in the order of their coming.
    var listeners: [Listener] = []
    /// The last event that is accounted for.
    var position: Position?
    /// The state as the gateway last told it.
    var state: JSONValue?
    /// Position of the topic at that moment.
    var stateAt: Position?
    /// The events since, `sinceMax` at most: an iterator that comes later is told the state and them.
    ///
    /// `nil` when they do not lead from the state to now.
    var sinceState: [TopicEvent]?
    /// A live topic is asked for once more: for presence, or for its state.
    var asksAgain = false
    /// It is asked for without a position.
    var asksAnew = false
    /// It is asked for alone, since a batch with it was refused as a whole.
    var isAlone = false
    /// Events that came before the answer.
    var early: [Frame] = []
    /// Refusals in a row on this connection; pauses grow with them until the tenth.
    var rests = 0
    /// When the topic is left, since nobody reads it; `nil` while somebody does.
    var lingerUntilMs: Int64?
    /// What the client says of itself here, as JSON text; `nil` when it is not to be listed.
    var tracked: String?
    /// Whether the last subscribe asked for presence.
    var hasPresence = false
    /// Who is here; `nil` while the whole is not known.
    var members: [Member]?

    /// How many events may wait for an answer; one more, and the topic is asked for again after a pause.
    static let earlyMax = 1_000

    /// How many events are kept behind a state; one more, and a late iterator has the topic asked for anew.
    static let sinceMax = 100

    /// Keeps an event for iterators that come later; a topic without a state needs none.
    mutating func keep(_ event: TopicEvent) {
        guard state != nil else { return }
        sinceState?.append(event)
        if sinceState.map({ $0.count > TopicState.sinceMax }) == true { sinceState = nil }
    }

    /// Whether there can be a topic of this name: one that cannot would spoil the batch it is asked in.
    static func isName(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, isLower(first) else { return false }
        return parts[0].count <= 32 && (1...200).contains(parts[1].count)
            && parts[0].allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
            && parts[1].allSatisfy { isLower($0 | 32) && $0 < 128 || isDigit($0) || "._~:-".utf8.contains($0) }
    }

    private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether anybody is to be told who is here.
    var wantsPresence: Bool { listeners.contains { $0.wantsPresence } }

    /// A topic that only lingers is not joined again.
    var isToBeAsked: Bool {
        (stage == .wanted || (stage == .live && asksAgain)) && (!listeners.isEmpty || tracked != nil)
    }

    /// Whether it is asked for from its position on.
    var resumes: Bool { position != nil && !asksAnew }

    /// Whether the connection is a member and events are delivered as they come.
    var isMember: Bool {
        switch stage {
        case .live, .asked(_, wasLive: true): true
        default: false
        }
    }

    /// Another user begins anew.
    mutating func forget() {
        position = nil
        state = nil
        sinceState = nil
        members = nil
        for index in listeners.indices { listeners[index].isLive = false }
    }

    /// A returning `presence` replaces the set or changes it.
    ///
    /// `nil` while the whole is not known.
    mutating func apply(presence data: JSONValue) -> [Member]? {
        if let all = data["members"]?.array {
            members = all.compactMap(Member.init)
        } else if var known = members {
            let changed = ((data["joins"]?.array ?? []) + (data["updates"]?.array ?? [])).compactMap(Member.init)
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
