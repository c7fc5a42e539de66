import Core

/// An HMAC secret of at least 32 bytes that is hidden from logs, debugger descriptions and reflection.
struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// Takes the bytes of a secret file, without one trailing line end.
    ///
    /// Refuses a text in the form of a key: if a public key were taken for a secret, all who know it could sign
    /// (CVE-2015-9235).
    init(file: [UInt8]) throws(RightsProblem) {
        var bytes = file
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        try self.init(checking: bytes)
        // A key may end with the byte of a line end, too.
        guard !Secret.readsAsKey(bytes) && !Secret.readsAsKey(file) else { throw .secretIsKey }
    }

    /// Takes the bytes of a JWK of kind `oct`.
    init(checking bytes: [UInt8]) throws(RightsProblem) {
        guard bytes.count <= TokenKeys.secretBytesMax else { throw .tooLong(bytesMax: TokenKeys.secretBytesMax) }
        guard bytes.count >= TokenKeys.secretBytesMin else { throw .secretTooShort(bytes: bytes.count) }
        self.bytes = bytes
    }

    var description: String { "<secret>" }
    var debugDescription: String { "<secret>" }
    var customMirror: Mirror { Mirror(self, children: []) }

    private static func readsAsKey(_ bytes: [UInt8]) -> Bool {
        if PEM.isPEM(bytes) || AsymmetricKey.isPublicDER(bytes) { return true }
        // The body of a PEM text without its header lines.
        let body = bytes.filter { $0 != 0x0a && $0 != 0x0d }
        if let der = Base64.decode(body, .standard), AsymmetricKey.isPublicDER(der) { return true }
        guard let json = try? JSON(parsing: bytes, limits: JWKS.limits) else { return false }
        return json.root.kind == .object
    }
}
