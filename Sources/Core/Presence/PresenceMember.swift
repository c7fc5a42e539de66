/// A member who is present: one session that has asked to be listed on a topic.
public struct PresenceMember: Equatable, Sendable {
    /// The entry's name.
    public let id: PresenceID
    /// The key under which Phoenix clients find the entry, UTF-8; chosen by the client, so it proves nothing.
    public let key: [UInt8]
    /// The user of the session's token, UTF-8, which no client can choose; `nil` for a session without a user.
    public let user: [UInt8]?
    /// The content of the entry: one JSON object.
    public let meta: [UInt8]
    /// The number of its versions; 1 at first.
    public let revision: Int

    /// The most bytes of a key.
    public static let keyBytesMax = 128
    /// Whether it may be a key: a name that every JavaScript object inherits may not.
    ///
    /// The clients of Phoenix and Supabase look keys up in a plain object, so such a key breaks all of them.
    public static func isKey(_ key: [UInt8]) -> Bool { key.count <= keyBytesMax && !inherited.contains(key) }

    /// The members of `Object.prototype` (ECMA-262, sections 20.1.3 and B.2.2).
    private static let inherited = Set(
        [
            "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
            "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
        ].map { Array($0.utf8) })

    /// The most bytes of an entry in Redis, beside its meta.
    public static let overheadBytesMax = 2_048

    /// Makes an entry of checked parts.
    public init(id: PresenceID, key: [UInt8], user: [UInt8]?, meta: [UInt8], revision: Int) {
        self.id = id
        self.key = key
        self.user = user
        self.meta = meta
        self.revision = revision
    }

    /// The name of the present version: that of the entry and the revision.
    public var reference: [UInt8] { reference(of: revision) }

    /// The name of an earlier version.
    public func reference(of revision: Int) -> [UInt8] {
        var text = id.bytes
        text.append(UInt8(ascii: "/"))
        text.append(decimal: revision)
        return text
    }

    /// The form of the entry in Redis: `{"k":key,"u":user,"r":revision,"m":{...}}`.
    public var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(64 + key.count + (user?.count ?? 0) + meta.count)
        text.append(UInt8(ascii: "{"))
        text.append(member: "k", string: key)
        if let user { text.append(member: "u", string: user) }
        text.append(member: "r", number: revision)
        text.append(member: "m", json: meta)
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// Reads an entry; `nil` when it is malformed.
    public static func read(_ id: PresenceID, _ value: JSON.Value) -> PresenceMember? {
        guard let key = value["k"]?.stringBytes, isKey(key), let revision = value["r"]?.int,
            revision >= 1, let meta = value["m"], meta.kind == .object
        else { return nil }
        let user = value["u"]
        guard user == nil || user?.stringBytes != nil else { return nil }
        return PresenceMember(
            id: id, key: key, user: user?.stringBytes, meta: Array(meta.raw), revision: revision)
    }
}
