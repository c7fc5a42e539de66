public import Core

/// The form in which a node tells of a session: one JSON object with the session's part in an event.
///
/// It crosses nodes, and stands in answers as evidence. Pure.
public enum SessionRow {
    /// The most subscriptions, refusals and tokens of a row; the newest stay.
    private static let staysMax = 16
    private static let othersMax = 4

    /// Writes a session; `wallMs` turns monotonic milliseconds into milliseconds since 1970.
    ///
    /// `event` is the event in question; without it, subscriptions have no fate.
    public static func text(
        _ session: TracedSession, id: [UInt8], node: [UInt8], about event: TracedPosition?, wallMs: (Int) -> Int
    ) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "id", string: id)
        text.append(member: "user", stringOrNull: session.caller == .user ? session.name : nil)
        let isKey = session.caller != .user && !session.name.isEmpty
        text.append(member: "key", stringOrNull: isKey ? session.name : nil)
        text.append(member: "node", string: node)
        text.append(member: "address", stringOrNull: session.address.map { "\($0)".utf8 })
        text.append(member: "dialect", string: session.dialect)
        append("since", session.openedMs.map(wallMs), to: &text)
        append("closed", session.closed.map { wallMs($0.atMs) }, to: &text)
        text.append(member: "why", stringOrNull: session.closed?.reason.rawValue.utf8)
        if session.isFull { text.append(member: "full", json: "true".utf8) }
        text.append(member: "subscriptions")
        text.append(arrayOf: session.stays.suffix(staysMax)) { append($1, of: session, event, wallMs, to: &$0) }
        text.append(member: "refused")
        text.append(arrayOf: session.refused.suffix(othersMax)) { text, refused in
            text.append(UInt8(ascii: "{"))
            append("at", wallMs(refused.atMs), to: &text)
            text.append(member: "code", string: refused.code)
            text.append(member: "message", string: refused.message)
            text.append(UInt8(ascii: "}"))
        }
        text.append(member: "tokens")
        text.append(arrayOf: session.tokens.suffix(othersMax)) { text, token in
            text.append(UInt8(ascii: "{"))
            append("at", wallMs(token.atMs), to: &text)
            text.append(member: "failure", string: token.failure)
            text.append(UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(
        _ stay: TopicStay, of session: TracedSession, _ event: TracedPosition?, _ wallMs: (Int) -> Int,
        to text: inout [UInt8]
    ) {
        text.append(UInt8(ascii: "{"))
        text.append(member: "topic", string: stay.topic.bytes)
        append("subscribed", stay.subscribedMs.map(wallMs), to: &text)
        append("position", stay.at, to: &text)
        append("after", stay.since, to: &text)
        if stay.since != nil { text.append(member: "recovered", json: "\(stay.isRecovered)".utf8) }
        if stay.isFollowed { text.append(member: "followed", json: "true".utf8) }
        if let event {
            let fate = session.fate(of: event, on: stay)
            text.append(member: "fate", string: fate.word.rawValue)
            if let atMs = fate.atMs { append("fateAt", wallMs(atMs), to: &text) }
            if !session.isSure(fate) { text.append(member: "sure", json: "false".utf8) }
        }
        append("handed", stay.now?.handed ?? stay.end?.handed, to: &text)
        append("waitingFrom", stay.now?.waiting, to: &text)
        append("unsentFrom", stay.unsent, to: &text)
        if let end = stay.end {
            append("ended", wallMs(end.atMs), to: &text)
            switch end.cause {
            case .left: text.append(member: "cause", string: SessionFact.Stay.left)
            case .closed(let reason): text.append(member: "cause", string: reason.rawValue)
            case .withdrawn(_, let message):
                text.append(member: "cause", string: SessionFact.Stay.withdrawn)
                text.append(member: "message", string: message)
            }
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Appends a time, or `null` where it is not known.
    private static func append(_ name: StaticString, _ wallMs: Int?, to text: inout [UInt8]) {
        text.append(member: name, stringOrNull: wallMs.map { Timestamp.text(wallMs: max($0, 0)).utf8 })
    }

    private static func append(_ name: StaticString, _ position: Position?, to text: inout [UInt8]) {
        if let position { text.append(member: name, string: position.text) }
    }
}

extension SessionRow {
    /// Writes the part of a session that a caller bound to topics may see: nothing but its subscriptions.
    public static func text(ofTopic session: SessionFact) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "id", string: session.id)
        text.append(member: "user", stringOrNull: session.user?.utf8)
        text.append(member: "node", string: session.node)
        text.append(member: "subscriptions")
        text.append(arrayOf: session.stays) { text, stay in
            text.append(UInt8(ascii: "{"))
            append("subscribed", stay.subscribedMs, to: &text)
            text.append(member: "position", stringOrNull: stay.position?.utf8)
            text.append(member: "after", stringOrNull: stay.since?.utf8)
            if stay.isFollowed { text.append(member: "followed", json: "true".utf8) }
            text.append(member: "fate", string: stay.fate.rawValue)
            if let fateMs = stay.fateMs { append("fateAt", fateMs, to: &text) }
            if !stay.isSure { text.append(member: "sure", json: "false".utf8) }
            append("ended", stay.endedMs, to: &text)
            text.append(member: "cause", stringOrNull: stay.cause?.utf8)
            text.append(UInt8(ascii: "}"))
        }
        return text + [UInt8(ascii: "}")]
    }
}

extension SessionFact {
    /// Reads a row; `nil` for any other JSON.
    public init?(_ row: JSON.Value) {
        guard let id = row["id"]?.string, let stays = row["subscriptions"] else { return nil }
        self.init(id: id)
        user = row["user"]?.string
        openedMs = row.time("since")
        closedMs = row.time("closed")
        reason = row["why"]?.string
        isFull = row["full"]?.bool ?? false
        self.stays = stays.members.compactMap { Stay($0) }
        refused =
            row["refused"]?.members.compactMap { one in
                guard let atMs = one.time("at"), let code = one["code"]?.string, let message = one["message"]?.string
                else { return nil }
                return Refused(atMs: atMs, code: code, message: message)
            } ?? []
        tokens =
            row["tokens"]?.members.compactMap { one in
                guard let atMs = one.time("at"), let failure = one["failure"]?.string else { return nil }
                return Token(atMs: atMs, failure: failure)
            } ?? []
    }
}

extension SessionFact.Stay {
    init?(_ row: JSON.Value) {
        guard let word = row["fate"]?.string, let fate = EventFate.Word(rawValue: word) else { return nil }
        self.init(fate: fate)
        subscribedMs = row.time("subscribed")
        position = row["position"]?.string
        since = row["after"]?.string
        fateMs = row.time("fateAt")
        isSure = row["sure"]?.bool ?? true
        isFollowed = row["followed"]?.bool ?? false
        endedMs = row.time("ended")
        cause = row["cause"]?.string
        message = row["message"]?.string
    }
}

extension JSON.Value {
    /// The time of a member, milliseconds since 1970.
    fileprivate func time(_ name: String) -> Int? { self[name]?.stringBytes.flatMap { Timestamp.milliseconds($0) } }
}
