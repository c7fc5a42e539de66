extension RedisURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user name for logging in, in printable ASCII: `default` when the URL names none.
    public var userName: String { user.map(RedisURL.shown) ?? "default" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the stored properties from `dump`, since the password is one of them.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    /// Bytes as printable ASCII, others as `?`.
    static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { $0 > 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
