public import Core

/// The JSON of presence for native and Socket.IO clients, and for readers over HTTP.
public enum NativePresence {
    /// Appends `{"id":"n.0.1","user":"u1","key":"u1","meta":{...}}`; `user` is that of the token, or `null`.
    public static func append(_ member: PresenceMember, hasMeta: Bool = true, to text: inout [UInt8]) {
        text.append(text: "{\"id\":\"")
        text.append(contentsOf: member.id.bytes)
        text.append(text: "\",\"user\":")
        if let user = member.user { text.append(jsonString: user) } else { text.append(text: "null") }
        text.append(text: ",\"key\":")
        text.append(jsonString: member.key)
        if hasMeta {
            text.append(text: ",\"meta\":")
            text.append(contentsOf: member.meta)
        }
        text.append(text: "}")
    }

    /// `[{...},...]`.
    static func list(_ members: [PresenceMember], hasMeta: Bool = true) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(members.reduce(2) { $0 + $1.meta.count + $1.key.count + 96 })
        text.append(text: "[")
        for (index, member) in members.enumerated() {
            if index > 0 { text.append(text: ",") }
            append(member, hasMeta: hasMeta, to: &text)
        }
        text.append(text: "]")
        return text
    }

    /// `{"topic":"shop:42","shopId":"42","members":[...]}`; `members` is the list.
    static func state(_ topic: Topic, _ members: [UInt8], _ socket: NativeSocket = .plain) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(96 + 2 * topic.bytes.count + members.count)
        text.append(text: "{")
        NativeEncoder.append(spellingsOf: topic, socket, to: &text)
        text.append(text: ",\"members\":")
        text.append(contentsOf: members)
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
        text.append(text: ",\"joins\":")
        text.append(contentsOf: list(change.joins.filter { replaced[$0.id] == nil }))
        text.append(text: ",\"updates\":")
        text.append(contentsOf: list(change.joins.filter { replaced[$0.id] != nil }))
        text.append(text: ",\"leaves\":")
        text.append(contentsOf: list(change.leaves.filter { replaced[$0.id] == nil }, hasMeta: false))
        text.append(text: "}")
        return text
    }

    /// The error for a client that asked for presence on a topic without presence.
    static func none(_ topic: Topic) -> ServerMessage {
        .error(code: ErrorCode.notFound.rawValue, message: "this namespace has no presence", topic: topic)
    }
}
