public import Commands
import Core
public import RedisLink
public import Service

/// The scripts that a gateway calls for itself, by their purpose.
public struct EventLogScripts: Sendable {
    /// The scripts of a namespace that return a topic's state, and the state's keys.
    struct Stateful: Sendable {
        let subscribe: ScriptID
        let position: ScriptID
        let keys: [Template]
        /// Microseconds of Redis to read the position and the state.
        let weightUs: Int
        /// The `@subscribe` script of the namespace; `nil` where all callers receive the same state.
        let personal: StateProvider?
    }

    let publish: ScriptID
    let subscribe: ScriptID
    let history: ScriptID
    let replay: ScriptID
    /// Microseconds of Redis to read events by time.
    let replayUs: Int
    let position: ScriptID
    let renew: ScriptID
    /// Microseconds of Redis: to read a position, and a page of the log at its limit.
    private let positionUs: Int
    /// Microseconds of Redis to publish an event.
    public let publishUs: Int
    private let historyUs: Int
    /// Microseconds of Redis to read a page of a log for a join or a repair, at its limit.
    let logUs: Int
    /// Adds a user to a topic's members, or removes them.
    public let setMember: ScriptID
    /// Revokes a token, or all tokens of a user up to a time.
    public let revoke: ScriptID
    /// Reads revocations and removals of members after a position.
    public let rightsChanges: ScriptID
    /// Writes a topic's presence entries, and publishes the change.
    public let hereChange: ScriptID
    /// Reads a topic's presence entries with their version.
    public let hereRead: ScriptID
    /// Notes a gateway's heartbeat, and reads how old those of all gateways are.
    public let hereNodes: ScriptID
    /// Puts a question into the list of an outside service, or answers from the cache.
    public let ask: ScriptID
    /// Stores a service's answer in the cache for some seconds.
    public let keepAnswer: ScriptID
    /// Reads letters: deliveries that were given up.
    public let deadLetters: ScriptID
    /// Moves a given-up call back into its service's stream.
    public let retryCall: ScriptID
    /// Moves a webhook receiver's cursor back to the event of a letter.
    public let retryWebhook: ScriptID
    /// Puts calls of commands into an outbox, all or none.
    public let outboxPut: ScriptID
    /// Reads how many entries the outbox's streams have, and the age of the oldest.
    public let outboxFigures: ScriptID
    /// Microseconds of Redis to read the presence of a full topic.
    public let hereReadUs: Int
    private let stateful: [ArraySlice<UInt8>: Stateful]

    /// Finds the scripts; fails only when an embedded file is missing, which a unit test excludes.
    public init(_ library: ScriptLibrary) throws(StartProblem) {
        func id(_ name: String) throws(StartProblem) -> ScriptID {
            guard let entry = library.table[name] else { throw StartProblem("the script \(name) is missing") }
            return entry.id
        }
        publish = try id("publish")
        subscribe = try id("subscribe")
        history = try id("history")
        replay = try id("replay")
        replayUs = library.catalogue.weightMicroseconds(of: "replay")
        position = try id("position")
        renew = try id("renew")
        publishUs = library.catalogue.weightMicroseconds(of: "publish")
        positionUs = library.catalogue.weightMicroseconds(of: "position")
        historyUs = library.catalogue.weightMicroseconds(of: "history")
        logUs = library.catalogue.weightMicroseconds(of: "subscribe")
        setMember = try id("set_member")
        revoke = try id("revoke")
        rightsChanges = try id("rights_changes")
        hereChange = try id("here_change")
        hereRead = try id("here_read")
        hereNodes = try id("here_nodes")
        ask = try id("ask")
        keepAnswer = try id("keep_answer")
        deadLetters = try id("dead_letters")
        retryCall = try id("retry_call")
        retryWebhook = try id("retry_webhook")
        outboxPut = try id("outbox_put")
        outboxFigures = try id("outbox_figures")
        hereReadUs = library.catalogue.weightMicroseconds(of: "here_read")
        var stateful: [ArraySlice<UInt8>: Stateful] = [:]
        for state in library.catalogue.states.values {
            stateful[Array(state.namespace.utf8)[...]] = Stateful(
                subscribe: try id(state.scriptName), position: try id(state.positionName),
                keys: state.keys.map(\.template),
                weightUs: library.catalogue.weightMicroseconds(of: state.positionName),
                personal: state.isPersonal ? state : nil)
        }
        self.stateful = stateful
    }

    /// Microseconds of Redis to read a topic's position and state; also the cost of a join without missed events.
    func positionUs(_ topic: Topic) -> Int { stateful(topic)?.weightUs ?? positionUs }

    /// Microseconds of Redis to read a page of a log, by its share of the largest one.
    func historyUs(_ limit: Int, of pageMax: Int) -> Int { positionUs + historyUs * limit / max(1, pageMax) }

    /// Microseconds of Redis to read events of a log, by their share of a page: by their number or by their bytes.
    func eventsUs(_ count: Int, bytes: Int, _ limits: Limits) -> Int {
        max(logUs * count / max(1, limits.logPageEventsMax), logUs * bytes / max(1, limits.logPageBytesMax))
    }

    /// Whether a script decides who may join the topic, and returns a different state to each caller.
    func isPersonal(_ topic: Topic) -> Bool { stateful(topic)?.personal != nil }

    /// The scripts of a topic's namespace; `nil` when it has no state.
    func stateful(_ topic: Topic) -> Stateful? { stateful[topic.namespace] }
}

extension EventLogScripts.Stateful {
    /// The state's keys for a topic, in their order; `user` is the caller of a `@subscribe` script.
    func keys(_ topic: Topic, _ keys: Keys, user: [UInt8]? = nil) -> [[UInt8]] {
        self.keys.compactMap { $0.key(keys) { $0 == "id" ? Array(topic.id) : user ?? StateProvider.nobody } }
    }
}
