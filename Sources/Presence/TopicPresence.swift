import Core

/// The presence of one topic, as one shard knows it, with the changes still to be sent to Redis and to clients.
///
/// Redis has the set. The topic's channel delivers each change of it with the set's next version; a shard that misses
/// one reads the set. Changes of the shard's own clients are written to Redis first, and count once the channel
/// delivers them. Clients receive the difference to the last list they received, so the source of a change never
/// matters. Pure.
struct TopicPresence {
    /// Entries that one call writes to Redis.
    struct Writing: Equatable {
        var here: [PresenceMember] = []
        var left: [PresenceID] = []

        var isEmpty: Bool { here.isEmpty && left.isEmpty }
        var ids: [PresenceID] { here.map(\.id) + left }
    }

    /// Knowledge of the set in Redis.
    enum Standing: Equatable {
        /// Nothing is known, or a change was missed: the set has to be read.
        case unknown
        /// The set is being read; changes are kept until then.
        case reading
        /// Everything up to a version is known; `nil`: there is no set.
        case at(Position?)
    }

    private let node: [UInt8]
    private let shard: Int
    private(set) var standing = Standing.unknown
    /// All entries that Redis has, without those whose node is gone.
    private(set) var here: [PresenceID: PresenceMember] = [:]
    /// Number of entries that each node has listed.
    private var nodeCounts: [[UInt8]: Int] = [:]
    /// Number of entries of each user, and number of those that own clients have requested.
    private var userCounts: [[UInt8]: Int] = [:]
    private var ownUserCounts: [[UInt8]: Int] = [:]
    /// The entries that this shard's clients have requested.
    private(set) var own: [PresenceID: PresenceMember] = [:]
    /// Entries to write to Redis: as in `own`, or else as removed.
    private var unsent: Set<PresenceID> = []
    /// Entries that differ from those sent to clients, with the sent ones; `nil` for none.
    private var untold: [PresenceID: PresenceMember?] = [:]
    private var held: [PresenceUpdate] = []
    private var isSending = false

    /// Changes kept during a read; beyond, the set is read again.
    private static let heldMax = 256

    init(node: [UInt8], shard: Int) {
        self.node = node
        self.shard = shard
    }

    // MARK: Own clients

    /// Adds or updates an own client's entry.
    mutating func track(_ member: PresenceMember) {
        setOwn(member.id, member)
        unsent.insert(member.id)
    }

    /// Removes an own client's entry.
    mutating func untrack(_ id: PresenceID) {
        guard own[id] != nil else { return }
        setOwn(id, nil)
        unsent.insert(id)
    }

    private mutating func setOwn(_ id: PresenceID, _ member: PresenceMember?) {
        TopicPresence.count(own[id]?.user, member?.user, &ownUserCounts)
        own[id] = member
    }

    /// Number of entries of a user: those stored, or those of own clients when more of them are not stored yet.
    func count(of user: [UInt8]) -> Int { max(userCounts[user] ?? 0, ownUserCounts[user] ?? 0) }

    /// Whether changes wait for Redis, and no call is under way.
    var wantsToSend: Bool { !isSending && !unsent.isEmpty }

    /// Whether it is unused: no own client, and no change for Redis.
    var isIdle: Bool { own.isEmpty && unsent.isEmpty && !isSending }

    /// Takes the changes to write now; ``wrote(_:refused:)`` or ``couldNotWrite(_:)`` follows.
    mutating func takeWriting(max: Int) -> Writing {
        var writing = Writing()
        // Removals are written first and make room.
        let ids = unsent.sorted { (own[$0] == nil ? 0 : 1, $0) < (own[$1] == nil ? 0 : 1, $1) }.prefix(max)
        for id in ids {
            unsent.remove(id)
            if let member = own[id] { writing.here.append(member) } else { writing.left.append(id) }
        }
        isSending = true
        return writing
    }

    /// Redis has stored the changes, except for the refused entries, for which there was no room.
    mutating func wrote(_ writing: Writing, refused: [PresenceID]) {
        isSending = false
        for id in refused { setOwn(id, nil) }
    }

    /// The changes may or may not be stored: they are written again.
    mutating func couldNotWrite(_ writing: Writing) {
        isSending = false
        unsent.formUnion(writing.ids)
    }

    // MARK: Changes from Redis

    /// A read of the set begins.
    mutating func beginReading() {
        standing = .reading
        held = []
    }

    /// A change was missed, or may have been.
    mutating func lost() {
        standing = .unknown
        held = []
    }

    /// Takes the set that was read: differences are to be sent to clients, and wrong entries of own clients written
    /// again.
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

    /// Takes a change from the channel.
    mutating func received(_ news: PresenceUpdate) {
        switch standing {
        case .unknown: return
        case .reading:
            guard held.count < TopicPresence.heldMax else { return lost() }
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

    private mutating func apply(_ news: PresenceUpdate) {
        for id in news.left {
            set(id, nil)
            // Another node has treated this one as gone.
            if own[id] != nil { unsent.insert(id) }
        }
        for member in news.here { set(member.id, member) }
    }

    /// Whether a version is later than the known one, although no pending change would explain it.
    func isBehind(_ version: Position?) -> Bool {
        guard case .at(let known) = standing else { return false }
        guard let known, let version else { return known != version }
        return known.epoch != version.epoch || known.offset < version.offset
    }

    /// The nodes that have listed entries.
    var nodes: Dictionary<[UInt8], Int>.Keys { nodeCounts.keys }

    /// Removes all entries of nodes that are gone; Redis is notified, too.
    mutating func drop(_ gone: Set<[UInt8]>) {
        for id in here.keys where gone.contains(Array(id.node)) {
            set(id, nil)
            unsent.insert(id)
        }
    }

    private mutating func set(_ id: PresenceID, _ member: PresenceMember?) {
        let before = here[id]
        guard before != member else { return }
        let reported: PresenceMember? = if let known = untold[id] { known } else { before }
        here[id] = member
        TopicPresence.count(before?.user, member?.user, &userCounts)
        if reported == member { untold.removeValue(forKey: id) } else { untold.updateValue(reported, forKey: id) }
        let name = Array(id.node)
        TopicPresence.count(before.map { _ in name }, member.map { _ in name }, &nodeCounts)
    }

    /// Moves an entry's count from one name to another; `nil`: none.
    private static func count(_ before: [UInt8]?, _ after: [UInt8]?, _ counts: inout [[UInt8]: Int]) {
        guard before != after else { return }
        if let before, let count = counts[before] { counts[before] = count > 1 ? count - 1 : nil }
        if let after { counts[after, default: 0] += 1 }
    }

    // MARK: Changes to clients

    /// Whether the set has been read at least once and is known.
    var isKnown: Bool {
        if case .at = standing { return true }
        return false
    }

    /// Whether clients have to be sent changes.
    var hasUntold: Bool { !untold.isEmpty }

    /// Discards pending changes, since no client has received anything yet: the first message has the whole list.
    mutating func beginTelling() {
        untold = [:]
    }

    /// Takes the changes to send next, at most `max` entries.
    mutating func takeChange(max: Int) -> PresenceChange {
        var change = PresenceChange()
        for id in untold.keys.sorted().prefix(max) {
            guard let old = untold.removeValue(forKey: id) else { continue }
            if let old { change.leaves.append(old) }
            if let new = here[id] { change.joins.append(new) }
        }
        return change
    }

    /// All entries that clients have received; in the order of names.
    var reported: [PresenceMember] {
        var reported = here
        for (id, old) in untold { reported[id] = old }
        return reported.values.sorted { $0.id < $1.id }
    }
}
