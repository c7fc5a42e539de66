/// The holder of an API key: its name, and a mark of the key itself.
///
/// Several keys may have one name while a key is being rotated. The mark distinguishes them, so that a session of a key
/// that a reload removed is found. Immutable; all callers that present a key share its holder.
public final class APIKeyHolder: Sendable, Equatable, ExpressibleByStringLiteral {
    /// The name of the line in the file.
    public let name: String
    /// The name's bytes, made once: each request that the holder pays for needs them.
    let nameBytes: [UInt8]
    /// The first eight bytes of the key's digest; 0 for a holder without a key, such as the demo.
    public let mark: UInt64
    /// The uses that the key allows; none for a publishable key, which gives no right of its own.
    public let rights: APIKeyRights

    /// A holder with a key.
    init(name: String, digest: [UInt8], rights: APIKeyRights) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.rights = rights
        mark = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A holder without a key, with these rights.
    public init(_ name: String, _ rights: APIKeyRights) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.rights = rights
        mark = 0
    }

    /// A holder without a key, with every right.
    public init(stringLiteral name: String) {
        self.name = name
        nameBytes = Array(name.utf8)
        rights = .everything
        mark = 0
    }

    /// Whether both are of one name, key and rights.
    public static func == (left: APIKeyHolder, right: APIKeyHolder) -> Bool {
        left.name == right.name && left.mark == right.mark && left.rights == right.rights
    }
}
