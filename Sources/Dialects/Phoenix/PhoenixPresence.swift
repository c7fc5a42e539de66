import Core

/// The JSON of presence for Phoenix clients: a list of metas for each key.
///
/// A meta holds the client's own members, and these last, so that they take precedence:
/// - `phx_ref`, the name of this version of the meta, by which clients remove it;
/// - `phx_ref_prev`, where it replaces another meta;
/// - `phx_user`, the user of the token, an addition of the gateway.
enum PhoenixPresence {
    /// `{"u1":{"metas":[{...,"phx_ref":"n.0.1/1"}]}}`; `replaced` holds the former entries of these members.
    static func list(_ members: [PresenceMember], replacing replaced: [PresenceID: PresenceMember] = [:]) -> [UInt8] {
        var byKey: [[UInt8]: [PresenceMember]] = [:]
        var keys: [[UInt8]] = []
        for member in members {
            if byKey[member.key] == nil { keys.append(member.key) }
            byKey[member.key, default: []].append(member)
        }
        var text: [UInt8] = []
        text.reserveCapacity(members.reduce(2) { $0 + $1.meta.count + $1.key.count + 128 })
        text.append(text: "{")
        for (index, key) in keys.enumerated() {
            if index > 0 { text.append(text: ",") }
            text.append(jsonString: key)
            text.append(text: ":{\"metas\":")
            text.append(arrayOf: byKey[key] ?? []) { append($1, replacing: replaced[$1.id], to: &$0) }
            text.append(text: "}")
        }
        text.append(text: "}")
        return text
    }

    /// `{"joins":{...},"leaves":{...}}`.
    static func change(_ change: PresenceChange) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "joins", json: list(change.joins, replacing: change.replaced))
        text.append(member: "leaves", json: list(change.leaves))
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(_ member: PresenceMember, replacing old: PresenceMember?, to text: inout [UInt8]) {
        // One JSON object, whose last byte is its brace; the text between its braces may be only spaces.
        let inside = member.meta.dropLast()
        text.append(contentsOf: inside)
        if inside.dropFirst().contains(UInt8(ascii: "\"")) { text.append(text: ",") }
        text.append(text: "\"phx_ref\":\"")
        text.append(contentsOf: member.reference)
        text.append(text: "\"")
        if let old { text.append(member: "phx_ref_prev", string: old.reference) }
        if let user = member.user { text.append(member: "phx_user", string: user) }
        text.append(text: "}")
    }
}
