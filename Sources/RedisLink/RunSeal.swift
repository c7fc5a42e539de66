public import Core

/// The knowledge of one link about the `+` in a server's fence: whether all processes may rely on it (decisions D95).
///
/// The script `seal` stores the common truth in Redis, and this is one link's part in it. The link asks before it
/// serves and again with each probe. It is a witness: it reports to the next run of Redis what it saw of the last one.
/// Pure: no I/O.
struct RunSeal {
    /// A change for the owner of a link.
    enum Outcome: Equatable, Sendable {
        /// The server no longer syncs every write: positions of this run are not valid in later runs.
        case lost
        /// Nothing proves that the last run kept every write that it answered: positions of earlier runs are not valid.
        case doubted
    }

    private let settings: RunSealSettings
    private let script: ScriptID
    /// The generation of the connected server's `+`; `nil` while it has none.
    private var generation: [UInt8]?
    /// The last sealed run that has kept its `+` as far as this link saw; empty: none.
    private var witnessed: [UInt8] = []
    /// Whether the last look showed a server without the `+`.
    private var hasSeenWeakness = false
    /// The run that Redis reports to have lost the `+` for good.
    private var weakRun: [UInt8] = []
    /// The run without the `+` about which Redis is not asked again.
    private var askedRun: [UInt8] = []
    /// The last known event of the lost connection.
    private var event: LinkWitness?

    /// The time for which the event of a lost connection is a proof, milliseconds: a position lives for a day or
    /// longer.
    private static let eventMs = 3_600_000

    /// Makes the knowledge of a new link; `nil` when runs are not sealed: then the server's own report is the fence.
    init?(_ target: RedisTarget, _ registry: ScriptRegistry) {
        guard let settings = target.seal, let script = registry.script(named: "seal") else { return nil }
        (self.settings, self.script) = (settings, script)
    }

    /// Records the loss of a connection; `event` is the last event that its owner knows of.
    mutating func disconnected(_ event: LinkWitness?) {
        if generation != nil { self.event = event }
        generation = nil
    }

    /// Takes the facts that the server reports now; returns a change, if there is one.
    mutating func look(_ facts: ServerFacts) -> Outcome? {
        guard facts.tellsPersistence else { return nil }
        guard !facts.isDurable else {
            askedRun = []
            return nil
        }
        defer { (generation, witnessed, hasSeenWeakness) = (nil, [], true) }
        return generation == nil ? nil : .lost
    }

    /// Whether Redis reports that the run has lost the `+` for good.
    func isWeak(_ facts: ServerFacts) -> Bool { facts.runID == weakRun }

    /// The question for Redis; `nil` when there is none.
    func question(_ facts: ServerFacts, nowMs: Int) -> ScriptCall? {
        guard facts.tellsPersistence, !facts.isNodeOfCluster, facts.runID != weakRun, facts.runID != askedRun else {
            return nil
        }
        let word: [UInt8] =
            hasSeenWeakness ? Array("doubt".utf8) : witnessed.isEmpty ? [UInt8(ascii: "-")] : witnessed
        var keys = [settings.key]
        var arguments = [
            facts.runID, Array(facts.isDurable ? "1".utf8 : "0".utf8), Array("\(facts.uptimeSeconds)".utf8),
            Array("\(settings.gapMs)".utf8), Array("\(settings.beatMs)".utf8), word,
        ]
        if facts.isDurable, let event, facts.runID != witnessed, nowMs - event.atMs < RunSeal.eventMs {
            keys.append(event.meta)
            arguments += [event.epoch, Array("\(event.offset)".utf8)]
        }
        return ScriptCall(script: script, keys: keys, arguments: arguments)
    }

    /// Whether a new connection asks once more before it serves: memory is short, and passes.
    ///
    /// Without the `+`, its first calls would begin new epochs of topics whose events are all there.
    static func waits(_ failure: RedisFailure, _ facts: ServerFacts) -> Bool {
        facts.isDurable && failure.kind == .outOfMemory
    }

    /// Takes the answer to ``question(_:nowMs:)``; returns a change, if there is one.
    ///
    /// After an error a sealed connection stays sealed, and another has no `+` until Redis answers.
    mutating func took(_ answer: RESPValue, _ facts: ServerFacts) -> Outcome? {
        guard let text = answer.bytes, answer.failure == nil else { return nil }
        guard text.first == UInt8(ascii: "+") else {
            (generation, hasSeenWeakness) = (nil, true)
            if text.first == UInt8(ascii: "-") { weakRun = facts.runID } else { askedRun = facts.runID }
            return nil
        }
        let drawn = Array(text.dropFirst())
        defer {
            (generation, witnessed, hasSeenWeakness, event) = (drawn, facts.runID, false, nil)
        }
        return !drawn.isEmpty && drawn != generation && facts.runID.starts(with: drawn) ? .doubted : nil
    }

    /// The fence of a server for scripts, see ``ServerFacts/fence``: with the `+` once Redis has sealed the run.
    func fence(_ facts: ServerFacts) -> [UInt8] {
        guard facts.isDurable else { return facts.fence }
        return generation.map { facts.fence + $0 } ?? facts.history
    }
}

/// The settings by which a link seals runs; ``Limits`` explains the times.
public struct RunSealSettings: Sendable {
    /// The key of ``Keys/sealed``.
    let key: [UInt8]
    /// `sealGapMs`.
    let gapMs: Int
    /// `sealBeatMs`.
    let beatMs: Int

    /// Takes the figures from a process's limits.
    public init(_ keys: Keys, _ limits: Limits) {
        key = keys.sealed
        gapMs = limits.sealGapMs
        beatMs = limits.sealBeatMs
    }
}

/// An event that a process knows to be in Redis: a proof of a rollback when it is missing later.
public struct LinkWitness: Equatable, Sendable {
    /// The key of the topic's position.
    public let meta: [UInt8]
    /// The epoch of the event.
    public let epoch: [UInt8]
    /// The offset of the event, 1 and more.
    public let offset: Int
    /// The time at which the process learnt of it, monotonic milliseconds.
    public let atMs: Int

    /// Names an event.
    public init(meta: [UInt8], epoch: [UInt8], offset: Int, atMs: Int) {
        self.meta = meta
        self.epoch = epoch
        self.offset = offset
        self.atMs = atMs
    }
}
