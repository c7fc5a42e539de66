import Core

/// The secrets of the tokens that scripts have the gateway sign (`@mint`): the first one signs, all of them verify.
///
/// Such a token cannot be taken for an operator's own, nor the other way round, even when both secrets are the same.
/// Its header has a type of its own, and it is signed with a key that is derived from the secret for this use.
public struct GrantKeys: Sendable, CustomStringConvertible {
    private var keys: [TokenKey] = []

    /// The `typ` of the header.
    static let type = "switchboard-grant+jwt"
    /// The most secrets: a new one beside those that it replaces.
    public static let secretsMax = 4

    private static let purpose = Array("switchboard grant, version 1".utf8)
    private static let header = Base64.encode(Array("{\"alg\":\"HS256\",\"typ\":\"\(type)\"}".utf8), .url)

    /// No secrets: signs nothing and verifies nothing.
    public init() {}

    /// Whether there is no secret.
    public var isEmpty: Bool { keys.isEmpty }

    /// The count, no key material.
    public var description: String { "\(keys.count) secrets" }

    /// Adds the secret that is the content of a file; one trailing line end is not part of it.
    public mutating func addSecret(_ file: [UInt8]) throws(RightsProblem) {
        guard keys.count < GrantKeys.secretsMax else { throw .tooManyKeys(max: GrantKeys.secretsMax) }
        let secret = try Secret(file: file)
        let derived = try Secret(checking: OpenSSLHash.hmacSHA256(key: secret.bytes, GrantKeys.purpose[...]))
        keys.append(TokenKey(id: nil, issuer: nil, material: .secret(derived)))
    }

    /// Whether a key with that mark is in the set.
    func has(mark: UInt64) -> Bool { keys.contains { $0.mark == mark } }

    /// The token of a grant; `nil` without a secret.
    public func sign(_ grant: Grant) -> [UInt8]? {
        guard let key = keys.first, case .secret(let secret) = key.material else { return nil }
        let signed = GrantKeys.header + [UInt8(ascii: ".")] + Base64.encode(grant.json, .url)
        return signed + [UInt8(ascii: ".")]
            + Base64.encode(OpenSSLHash.hmacSHA256(key: secret.bytes, signed[...]), .url)
    }

    /// The key that signed the message; `nil` when none did.
    func signer(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> TokenKey? {
        keys.first { $0.verifies(signature, of: message) }
    }
}
