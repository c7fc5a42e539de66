public import Core

/// The JSON of presence for native and Socket.IO clients, and for readers over HTTP.
public enum NativePresence {
    /// Appends `{"id":"n.0.1","user":"u1","key":"u1","meta":{...}}`; `user` is that of the token, or `null`.
    public static func append(_ member: PresenceMember, hasMeta: Bool = true, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "{"))
        text.append(member: "id", string: member.id.bytes)
        text.append(member: "user", stringOrNull: member.user)
        text.append(member: "key", string: member.key)
        if hasMeta { text.append(member: "meta", json: member.meta) }
        text.append(UInt8(ascii: "}"))
    }

    /// `[{...},...]`.
    static func list(_ members: [PresenceMember], hasMeta: Bool = true) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(members.reduce(2) { $0 + $1.meta.count + $1.key.count + 96 })
        text.append(arrayOf: members) { append($1, hasMeta: hasMeta, to: &$0) }
        return text
    }

    /// `{"topic":"shop:42","shopId":"42","members":[...]}`; `members` is the list.
    static func state(_ topic: Topic, _ members: [UInt8], _ socket: NativeSocket = .plain) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(96 + 2 * topic.bytes.count + members.count)
        text.append(text: "{")
        NativeEncoder.append(spellingsOf: topic, socket, to: &text)
        text.append(member: "members", json: members)
        text.append(text: "}")
        return text
    }

    /// `{"topic":"shop:42","shopId":"42","joins":[...],"updates":[...],"leaves":[...]}`.
    static func change(_ topic: Topic, _ change: PresenceChange) -> [UInt8] {
        let replaced = change.replaced
        var text: [UInt8] = []
        text.reserveCapacity(change.bytes + 128)
        text.append(text: "{")
        NativeEncoder.append(spellingsOf: topic, to: &text)
        text.append(member: "joins", json: list(change.joins.filter { replaced[$0.id] == nil }))
        text.append(member: "updates", json: list(change.joins.filter { replaced[$0.id] != nil }))
        let leaves = change.leaves.filter { replaced[$0.id] == nil }
        text.append(member: "leaves", json: list(leaves, hasMeta: false))
        text.append(text: "}")
        return text
    }

    /// The error for a client that asked for presence on a topic without presence.
    static func none(_ topic: Topic) -> ServerMessage {
        .error(code: ErrorCode.notFound.rawValue, message: "this namespace has no presence", topic: topic)
    }
}
