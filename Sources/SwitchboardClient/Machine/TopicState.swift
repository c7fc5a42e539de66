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
        case leaving(ref: String)
    }

    /// One iterator.
    struct Listener: Sendable {
        let id: Int
        let wantsPresence: Bool
        /// Whether it was told `live` once, and each event since.
        var isLive = false
    }

    var stage = Stage.wanted
    var listeners: [Listener] = []
    /// The last event that is accounted for.
    var position: Position?
    /// The state as the gateway last told it.
    var state: JSONValue?
    /// Whether no event came since.
    var isStateCurrent = false
    /// A live topic is asked for once more: for presence, or for its state.
    var asksAgain = false
    /// It is asked for without a position.
    var asksAnew = false
    /// It is asked for alone, since a batch with it was refused as a whole.
    var isAlone = false
    /// Events that came before the answer.
    var early: [Frame] = []
    var rests = 0
    var lingerUntilMs: Int64?
    var tracked: String?
    var hasPresence = false
    var members: [Member]?

    static let earlyMax = 1_000

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
        isStateCurrent = false
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
