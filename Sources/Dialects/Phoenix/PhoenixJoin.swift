import Core

/// The request of a `phx_join`, read as leniently as the clients' own server reads it.
///
/// Members of a wrong kind count as absent. The public and the private channel of a name are one channel: the
/// namespace's rules decide which clients may join.
struct PhoenixJoin {
    /// The options that the client sets for the channel.
    var options = PhoenixChannel.Options()
    /// The token to present first; `nil` when the connection's own credentials apply.
    var token: [UInt8]?
    /// The position to resume from; an addition of the gateway, `config.broadcast.since`.
    var since: Position?
    /// The events that it wants by the clock; no effect beside ``since``.
    var replay: ReplayRequest?
    /// The reply's `postgres_changes`: the changes that were requested, each with a number, or `[]`.
    var changes = Array("[]".utf8)
    /// The reason why the join cannot be granted; `nil` for a valid one.
    var problem: String?

    /// The most bytes of ``changes``, which a pending join stores.
    static let changesBytesMax = 8_192

    init(_ frame: PhoenixFrame) {
        guard let payload = frame.object else { return }
        token = PhoenixJoin.token(payload)
        guard let config = payload["config"] else { return }
        let broadcast = config["broadcast"]
        options.wantsOwn = PhoenixJoin.flag(broadcast?["self"])
        options.wantsAcknowledgements = PhoenixJoin.flag(broadcast?["ack"])
        options.wantsPresence = PhoenixJoin.flag(config["presence"]?["enabled"])
        options.wantsReadiness = PhoenixJoin.flag(broadcast?["replication_ready"])
        readKey(config["presence"]?["key"])
        if let epoch = broadcast?["since"]?["epoch"]?.stringBytes, let offset = broadcast?["since"]?["offset"]?.int {
            since = Position(epoch: epoch, offset: offset)
        }
        if let wanted = broadcast?["replay"], wanted.kind == .object { read(replay: wanted) }
        if let asked = config["postgres_changes"], asked.kind == .array { number(asked) }
    }

    /// Whether the client asked for database changes, which the gateway does not offer.
    var asksForChanges: Bool { changes.count > 2 }

    /// `user_token`, else `access_token`; `nil` for a key, which only the connection presents.
    ///
    /// A key is a text without the three parts of a token, such as `sb_publishable_...`.
    static func token(_ payload: JSON.Value) -> [UInt8]? {
        for name in ["user_token", "access_token"] {
            guard let text = payload[name]?.stringBytes, !text.isEmpty else { continue }
            let isToken = text.count { $0 == UInt8(ascii: ".") } == 2 && !text.starts(with: Array("sb_".utf8))
            return isToken ? text : nil
        }
        return nil
    }

    /// Reads the presence key: any value but an empty string or `null`; a value that is no string counts as its text.
    private mutating func readKey(_ value: JSON.Value?) {
        guard let value, value.kind != .null else { return }
        let key = value.stringBytes ?? Array(value.raw)
        guard key.count <= PresenceMember.keyBytesMax else {
            problem = "InvalidJoinPayload: config.presence.key has at most \(PresenceMember.keyBytesMax) bytes"
            return
        }
        guard PresenceMember.isKey(key) else {
            problem = "InvalidJoinPayload: config.presence.key is a name that every object of JavaScript has"
            return
        }
        options.presenceKey = key.isEmpty ? nil : key
    }

    /// Reads a boolean, or the word `true` in any case; anything else is `false`.
    private static func flag(_ value: JSON.Value?) -> Bool {
        guard let value else { return false }
        if let text = value.stringBytes { return ASCII.equalIgnoringCase(text, Array("true".utf8)) }
        return value.bool == true
    }

    /// Reads `since`, milliseconds since 1970, and `limit`, as strictly as the clients' own server does.
    private mutating func read(replay wanted: JSON.Value) {
        let limit = NativeDecoder.present(wanted["limit"])
        guard let sinceMs = wanted["since"]?.int, sinceMs <= ReplayRequest.sinceMsMax,
            limit == nil || limit?.int != nil
        else {
            problem = "UnableToReplayMessages: Replay params are not valid"
            return
        }
        guard since == nil else { return }
        replay = ReplayRequest(sinceMs: sinceMs, limit: limit?.int ?? ReplayRequest.eventsMax)
    }

    /// Repeats the requested changes: clients compare event, schema, table and filter, and expect a number other than
    /// 0.
    private mutating func number(_ asked: JSON.Value) {
        var text = Array("[".utf8)
        var count = 0
        for change in asked.members where change.kind == .object {
            count += 1
            text.append(text: count == 1 ? "{" : ",{")
            for name in ["event", "schema", "table", "filter", "select"] {
                guard let value = change[name] else { continue }
                text.append(text: "\"" + name + "\":")
                text.append(contentsOf: value.raw)
                text.append(text: ",")
            }
            text.append(text: "\"id\":\(count)}")
            guard text.count < PhoenixJoin.changesBytesMax else {
                problem = "InvalidJoinPayload: postgres_changes asks for too much"
                return
            }
        }
        text.append(text: "]")
        changes = text
    }
}
