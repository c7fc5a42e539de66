import Core

/// How Phoenix clients are told who is here: by key, a list of metas each (wire section 1.9).
///
/// A meta is what the client says of itself, with `phx_ref`, the name of this word of it, by which clients remove it; with
/// `phx_ref_prev` where it replaces another; and with `phx_user`, the user of the token, which is an addition of ours. These
/// stand last, so that they count whatever the meta says.
enum PhoenixPresence {
    /// `{"u1":{"metas":[{...,"phx_ref":"n.0.1/1"}]}}`; `replaced` are those that the members take the place of.
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
            text.append(text: ":{\"metas\":[")
            for (place, member) in (byKey[key] ?? []).enumerated() {
                if place > 0 { text.append(text: ",") }
                append(member, replacing: replaced[member.id], to: &text)
            }
            text.append(text: "]}")
        }
        text.append(text: "}")
        return text
    }

    /// `{"joins":{...},"leaves":{...}}`.
    static func change(_ change: PresenceChange) -> [UInt8] {
        var text: [UInt8] = []
        text.append(text: "{\"joins\":")
        text.append(contentsOf: list(change.joins, replacing: change.replaced))
        text.append(text: ",\"leaves\":")
        text.append(contentsOf: list(change.leaves))
        text.append(text: "}")
        return text
    }

    private static func append(_ member: PresenceMember, replacing old: PresenceMember?, to text: inout [UInt8]) {
        // One JSON object, whose last byte is its brace; between its braces there may be nothing but spaces.
        let inside = member.meta.dropLast()
        text.append(contentsOf: inside)
        if inside.dropFirst().contains(UInt8(ascii: "\"")) { text.append(text: ",") }
        text.append(text: "\"phx_ref\":\"")
        text.append(contentsOf: member.reference)
        if let old {
            text.append(text: "\",\"phx_ref_prev\":\"")
            text.append(contentsOf: old.reference)
        }
        text.append(text: "\"")
        if let user = member.user {
            text.append(text: ",\"phx_user\":")
            text.append(jsonString: user)
        }
        text.append(text: "}")
    }
}
