import Core

/// Who is here on one topic, as one shard knows it, and what of it has still to be said: to Redis, and to clients.
///
/// Redis has the set, and each change of it comes back by the topic's channel with the set's next version; whoever misses one
/// reads the set. What the shard's own clients say goes to Redis first and counts once it has come back. Clients are told the
/// difference to what they were told before, so it never matters by which way something was learned. Pure.
struct PresenceRoom {
    /// What is to be written to Redis by one call.
    struct Writing: Equatable {
        var here: [PresenceMember] = []
        var left: [PresenceID] = []

        var isEmpty: Bool { here.isEmpty && left.isEmpty }
        var ids: [PresenceID] { here.map(\.id) + left }
    }

    /// How far the room is behind Redis.
    enum Standing: Equatable {
        /// Nothing is known, or something was missed: the set is to be read.
        case unknown
        /// It is being read; news are kept until then.
        case reading
        /// Everything is known up to a version; `nil`: there is no set.
        case at(Position?)
    }

    private let node: [UInt8]
    private let shard: Int
    private(set) var standing = Standing.unknown
    /// Everybody who is here, as Redis has it, but for those whose node is gone.
    private(set) var here: [PresenceID: PresenceMember] = [:]
    /// How many of them each node has listed.
    private var nodeCounts: [[UInt8]: Int] = [:]
    /// How many of them are each user's, and how many of those that own clients have asked to be.
    private var userCounts: [[UInt8]: Int] = [:]
    private var ownUserCounts: [[UInt8]: Int] = [:]
    /// What this shard's clients have asked to be.
    private(set) var own: [PresenceID: PresenceMember] = [:]
    /// Entries that Redis has to be told of: as they are in `own`, or else that they have left.
    private var unsent: Set<PresenceID> = []
    /// Entries that differ from what clients were told, with what they were told: `nil` for nothing.
    private var untold: [PresenceID: PresenceMember?] = [:]
    private var held: [PresenceNews] = []
    private var isSending = false

    /// News that are kept during a read; beyond, the set is read again.
    private static let heldMax = 256

    init(node: [UInt8], shard: Int) {
        self.node = node
        self.shard = shard
    }

    // MARK: What own clients say

    /// A client is here, or says something new of itself.
    mutating func track(_ member: PresenceMember) {
        setOwn(member.id, member)
        unsent.insert(member.id)
    }

    /// A client is here no more.
    mutating func untrack(_ id: PresenceID) {
        guard own[id] != nil else { return }
        setOwn(id, nil)
        unsent.insert(id)
    }

    private mutating func setOwn(_ id: PresenceID, _ member: PresenceMember?) {
        PresenceRoom.count(own[id]?.user, member?.user, &ownUserCounts)
        own[id] = member
    }

    /// Entries of a user: those that are here, or those of own clients where more of them are on their way.
    func count(of user: [UInt8]) -> Int { max(userCounts[user] ?? 0, ownUserCounts[user] ?? 0) }

    /// Whether Redis is to be told something, and nothing is on its way.
    var wantsToSend: Bool { !isSending && !unsent.isEmpty }

    /// Whether nothing here needs the room: no own client, and nothing that Redis has to be told.
    var isIdle: Bool { own.isEmpty && unsent.isEmpty && !isSending }

    /// Takes what is to be written now; ``wrote(_:refused:)`` or ``couldNotWrite(_:)`` follows.
    mutating func takeWriting(max: Int) -> Writing {
        var writing = Writing()
        // Who leaves goes first and makes room.
        let ids = unsent.sorted { (own[$0] == nil ? 0 : 1, $0) < (own[$1] == nil ? 0 : 1, $1) }.prefix(max)
        for id in ids {
            unsent.remove(id)
            if let member = own[id] { writing.here.append(member) } else { writing.left.append(id) }
        }
        isSending = true
        return writing
    }

    /// Redis has it, but for those that found no room.
    mutating func wrote(_ writing: Writing, refused: [PresenceID]) {
        isSending = false
        for id in refused { setOwn(id, nil) }
    }

    /// It may or may not be there: it is written again.
    mutating func couldNotWrite(_ writing: Writing) {
        isSending = false
        unsent.formUnion(writing.ids)
    }

    // MARK: What Redis says

    /// The set is going to be read.
    mutating func beginReading() {
        standing = .reading
        held = []
    }

    /// Something was missed, or may have been.
    mutating func lost() {
        standing = .unknown
        held = []
    }

    /// The set was read: what differs is to be told, and what own clients are is set right there.
    mutating func read(_ version: Position?, _ members: [PresenceMember]) {
        guard standing == .reading else { return }
        standing = .at(version)
        let found = Dictionary(members.map { ($0.id, $0) }) { _, last in last }
        for id in here.keys where found[id] == nil { set(id, nil) }
        for (id, member) in found { set(id, member) }
        for (id, member) in own where found[id] != member { unsent.insert(id) }
        for id in found.keys where own[id] == nil && id.isOf(node: node, shard: shard) { unsent.insert(id) }
        let news = held
        held = []
        for one in news { received(one) }
    }

    /// The channel told a change.
    mutating func received(_ news: PresenceNews) {
        switch standing {
        case .unknown: return
        case .reading:
            guard held.count < PresenceRoom.heldMax else { return lost() }
            held.append(news)
        case .at(let version):
            if let version, version.epoch == news.version.epoch, news.version.offset <= version.offset { return }
            let isNext =
                version.map { $0.epoch == news.version.epoch && $0.offset + 1 == news.version.offset }
                ?? (news.version.offset == 1)
            guard isNext else { return lost() }
            standing = .at(news.version)
            apply(news)
        }
    }

    private mutating func apply(_ news: PresenceNews) {
        for id in news.left {
            set(id, nil)
            // Another node took this one for gone.
            if own[id] != nil { unsent.insert(id) }
        }
        for member in news.here { set(member.id, member) }
    }

    /// Whether a version is later than what is known here, although nothing is on its way that would say so.
    func isBehind(_ version: Position?) -> Bool {
        guard case .at(let known) = standing else { return false }
        guard let known, let version else { return known != version }
        return known.epoch != version.epoch || known.offset < version.offset
    }

    /// The nodes that have listed somebody.
    var nodes: Dictionary<[UInt8], Int>.Keys { nodeCounts.keys }

    /// A node is gone, and with it everybody it has listed; Redis is told so too.
    mutating func drop(_ gone: Set<[UInt8]>) {
        for id in here.keys where gone.contains(Array(id.node)) {
            set(id, nil)
            unsent.insert(id)
        }
    }

    private mutating func set(_ id: PresenceID, _ member: PresenceMember?) {
        let before = here[id]
        guard before != member else { return }
        let told: PresenceMember? = if let known = untold[id] { known } else { before }
        here[id] = member
        PresenceRoom.count(before?.user, member?.user, &userCounts)
        if told == member { untold.removeValue(forKey: id) } else { untold.updateValue(told, forKey: id) }
        let name = Array(id.node)
        PresenceRoom.count(before.map { _ in name }, member.map { _ in name }, &nodeCounts)
    }

    /// An entry was counted under one name and is under another; `nil`: under none.
    private static func count(_ before: [UInt8]?, _ after: [UInt8]?, _ counts: inout [[UInt8]: Int]) {
        guard before != after else { return }
        if let before, let count = counts[before] { counts[before] = count > 1 ? count - 1 : nil }
        if let after { counts[after, default: 0] += 1 }
    }

    // MARK: What clients are told

    /// Whether the set has been read at least once and is known.
    var isKnown: Bool {
        if case .at = standing { return true }
        return false
    }

    /// Whether clients are to be told something.
    var hasUntold: Bool { !untold.isEmpty }

    /// Nobody has been told anything yet: everything is told as a whole.
    mutating func beginTelling() {
        untold = [:]
    }

    /// Takes what is to be told next, of at most so many entries.
    mutating func takeChange(max: Int) -> PresenceChange {
        var change = PresenceChange()
        for id in untold.keys.sorted().prefix(max) {
            guard let old = untold.removeValue(forKey: id) else { continue }
            if let old { change.leaves.append(old) }
            if let new = here[id] { change.joins.append(new) }
        }
        return change
    }

    /// Everybody who is here, as clients were told; in the order of names.
    var told: [PresenceMember] {
        var told = here
        for (id, old) in untold { told[id] = old }
        return told.values.sorted { $0.id < $1.id }
    }
}
