public import Core
public import EventLogs
public import RedisLink
public import Rights

/// The presence of topics in Redis; replies are as untrusted as any other input.
///
/// Thread: the shard's.
public final class PresenceStore {
    /// The shard that writes the entries, by which others notice its end.
    public struct Origin: Sendable {
        /// The node's name.
        public let node: [UInt8]
        /// The shard's number on that node, from 0.
        public let shard: Int

        /// A writer that no other node or shard of this Redis is.
        public init(node: [UInt8], shard: Int) {
            self.node = node
            self.shard = shard
        }
    }

    /// The stored presence of a topic.
    struct Room {
        /// `nil` when there is none.
        var version: Position?
        var members: [PresenceMember]
    }

    /// Result of a write.
    struct Written {
        var version: Position?
        /// Entries that were not stored, since the topic is full.
        var refused: [PresenceID]
    }

    typealias Ages = [(node: [UInt8], ageMs: Int)]

    private let link: any RedisCalls
    private let scripts: EventLogScripts
    private let keys: Keys
    private let limits: Limits
    private let node: [UInt8]
    private var epochs = EpochSource()
    private let lists: SharedReader<[PresenceMember]>

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")
    /// Maximum entries of one call of here_change.lua.
    static let membersAtOnce = 128
    /// Milliseconds for which a silent gateway stays in the list, so that its silence can be noticed.
    private static let keepMs = 120_000

    /// A store for the entries of a shard; reads for callers go through the read queue.
    public init(
        _ link: any RedisCalls, _ scripts: EventLogScripts, _ keys: Keys, _ limits: Limits, _ scheduler: ReadScheduler,
        _ origin: Origin
    ) {
        lists = SharedReader(scheduler)
        self.link = link
        self.scripts = scripts
        self.keys = keys
        self.limits = limits
        node = origin.node
    }

    /// Whether calls can be made.
    var isReady: Bool { link.isReady }

    /// Processing time in Redis of reading so many entries, microseconds.
    func readUs(_ count: Int) -> Int { 25 + scripts.hereReadUs * count / max(1, limits.presenceMembersMax) }

    /// Writes added and removed entries; an empty writing keeps the set alive.
    func write(
        _ topic: Topic, _ writing: TopicPresence.Writing, _ completion: @escaping (Result<Written, Refusal>) -> Void
    ) {
        var arguments: [[UInt8]] = [
            keys.channel(topic), epochs.next(), EventLog.decimal(limits.presenceMembersMax),
            EventLog.decimal(limits.presenceSeconds), EventLog.decimal(writing.left.count),
        ]
        arguments += writing.left.map(\.bytes)
        for member in writing.here { arguments += [member.id.bytes, member.text] }
        let call = ScriptCall(script: scripts.hereChange, keys: [keys.here(topic)], arguments: arguments)
        link.run(call, lane: nil) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements, fields.count == 3, let refused = fields[2].elements else {
                        return .failure(PresenceStore.nonsense)
                    }
                    let ids = refused.compactMap { $0.bytes.flatMap { PresenceID($0) } }
                    return .success(Written(version: EventLog.position(fields[0], fields[1]), refused: ids))
                })
        }
    }

    /// Reads the entries; malformed ones are skipped.
    func read(_ topic: Topic, _ completion: @escaping (Result<Room, Refusal>) -> Void) {
        // A gateway with a larger limit may have listed more.
        let call = ScriptCall(
            script: scripts.hereRead, keys: [keys.here(topic)], arguments: [EventLog.decimal(PresenceStore.membersMax)])
        link.run(call, lane: nil) { [json = limits.answers] result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements, fields.count == 3, let pairs = fields[2].elements else {
                        return .failure(PresenceStore.nonsense)
                    }
                    var members: [PresenceMember] = []
                    for index in stride(from: 0, to: pairs.count - 1, by: 2) {
                        guard let id = pairs[index].bytes.flatMap({ PresenceID($0) }),
                            let text = pairs[index + 1].bytes,
                            let root = try? JSON(parsing: text, limits: json).root,
                            let member = PresenceMember.read(id, root)
                        else { continue }
                        members.append(member)
                    }
                    return .success(Room(version: EventLog.position(fields[0], fields[1]), members: members))
                })
        }
    }

    /// The maximum of the limit on entries.
    private static let membersMax = 10_000

    /// Lists the entries in the order of names, without those whose gateway is gone; the caller's budget is charged.
    public func list(
        _ topic: Topic, payer: Payer, _ completion: @escaping (Result<[PresenceMember], Refusal>) -> Void
    ) {
        let key = SharedReader<[PresenceMember]>.Key(
            script: "here_read", keys: [topic.bytes], arguments: [], isAnonymous: payer.kind == .anonymous)
        lists.read(
            key, payer: payer, weightUs: readUs(limits.presenceMembersMax),
            run: { [self] done in readList(topic, done) }, completion)
    }

    /// Reads all entries of a topic, also those of nodes that are gone; the payer is charged.
    public func entries(
        _ topic: Topic, payer: Payer, _ completion: @escaping (Result<[PresenceMember], Refusal>) -> Void
    ) {
        let key = SharedReader<[PresenceMember]>.Key(
            script: "here_read", keys: [topic.bytes], arguments: [Array("all".utf8)],
            isAnonymous: payer.kind == .anonymous)
        lists.read(
            key, payer: payer, weightUs: readUs(limits.presenceMembersMax),
            run: { [self] done in read(topic) { done($0.map(\.members)) } }, completion)
    }

    /// The nodes are read second: a node sends a heartbeat before it lists an entry.
    private func readList(_ topic: Topic, _ completion: @escaping (Result<[PresenceMember], Refusal>) -> Void) {
        read(topic) { [self] result in
            guard case .success(let presence) = result, !presence.members.isEmpty else {
                return completion(result.map { _ in [] })
            }
            ages(of: []) { [silenceMs = limits.presenceNodeMs] result in
                completion(
                    result.mapError(\.refusal).map { ages in
                        let alive = Set(ages.lazy.filter { $0.ageMs < silenceMs }.map(\.node))
                        return presence.members.filter { alive.contains(Array($0.id.node)) }.sorted { $0.id < $1.id }
                    })
            }
        }
    }

    /// Reads the time since each gateway's last heartbeat, and sends one for this gateway.
    func nodes(_ completion: @escaping (Result<Ages, RedisFailure>) -> Void) {
        ages(of: node, completion)
    }

    /// Reads the times; without a name no heartbeat is sent.
    private func ages(of name: [UInt8], _ completion: @escaping (Result<Ages, RedisFailure>) -> Void) {
        let call = ScriptCall(
            script: scripts.hereNodes, keys: [keys.hereNodes],
            arguments: [name, EventLog.decimal(PresenceStore.keepMs)])
        link.run(call, lane: nil) { result in
            completion(
                result.map { value in
                    let fields = value.elements ?? []
                    return stride(from: 0, to: fields.count - 1, by: 2).compactMap { index in
                        guard let name = fields[index].bytes, let ageMs = EventLog.number(fields[index + 1]) else {
                            return nil
                        }
                        return (name, ageMs)
                    }
                })
        }
    }
}
