import Core

/// The keys that tokens may be signed with, from any number of files; a value, replaced as a whole on reload.
///
/// Every key allows exactly one algorithm: a secret HS256, an RSA key RS256, a P-256 key ES256, an Ed25519 key EdDSA.
///
/// A token's `kid` and `alg` alone decide which keys are tried:
/// 1. `kid` names keys of the set: those of them whose algorithm is `alg`; none of that algorithm: refused.
/// 2. `kid` names no key: refused when any key of that algorithm has an id; else, since then ids mean nothing here, all
///   keys of that algorithm.
/// 3. no `kid`: the unnamed keys of that algorithm; when there are none and exactly one named key of that algorithm
///   exists, that one; else refused.
///
/// A key may be bound to an issuer; a token it verifies must then carry that `iss`. Ids are unique within an issuer
/// only, so that two issuers may choose the same id without either vouching for the other (cf. CVE-2026-49998).
public struct TokenKeys: Sendable, CustomStringConvertible {
    private(set) var keys: [TokenKey] = []

    /// The fewest bytes of an HMAC secret: the size of its digest (RFC 7518 section 3.2).
    public static let secretBytesMin = 32
    /// The most bytes of an HMAC secret.
    public static let secretBytesMax = 1_024
    /// The most keys of one set.
    public static let keysMax = 64
    /// The most keys without id, all of which are tried with a token without `kid`.
    public static let unnamedMax = 8
    /// The most bytes of a key id.
    public static let keyIDBytesMax = 256

    /// Whether the bytes may name a key: 1...256 of `[A-Za-z0-9._~:=+/-]`, no slash at the start and no two dots
    /// together.
    ///
    /// Paths, queries and control characters are never a key id; a token that carries one is refused even where ids
    /// select nothing. Base64, which some issuers use for ids, has slashes.
    static func isKeyID(_ bytes: [UInt8]) -> Bool {
        let allowed = Array("._~:=+/-".utf8)
        return (1...keyIDBytesMax).contains(bytes.count) && bytes.first != UInt8(ascii: "/")
            && !zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: ".") && $1 == UInt8(ascii: ".") }
            && bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || allowed.contains($0) }
    }

    /// The number of keys read from a JWKS file.
    public struct Added: Equatable, Sendable {
        /// Keys added.
        public var used: Int
        /// Keys left out because of another purpose: another `use`, `kty`, curve or `alg`.
        public var skipped: Int
    }

    /// A set without keys; it verifies nothing.
    public init() {}

    /// Whether there is no key.
    public var isEmpty: Bool { keys.isEmpty }

    /// The number of keys.
    public var count: Int { keys.count }

    /// Kinds and counts, no key material.
    public var description: String {
        let kinds = TokenAlgorithm.allCases.compactMap { algorithm in
            let count = keys.count { $0.algorithm == algorithm }
            return count == 0 ? nil : "\(count) \(algorithm.rawValue)"
        }
        return kinds.isEmpty ? "no keys" : kinds.joined(separator: ", ")
    }

    /// Whether a key with that mark is in the set.
    func has(mark: UInt64) -> Bool { keys.contains { $0.mark == mark } }

    /// Adds the HS256 secret that is the content of a file; one trailing line end is not part of it.
    public mutating func addSecret(
        _ file: [UInt8], keyID: [UInt8]? = nil, issuer: [UInt8]? = nil
    ) throws(RightsProblem) {
        try add([TokenKey(id: keyID, issuer: issuer, material: .secret(Secret(file: file)))])
    }

    /// Adds the public keys of a file, PEM or JWKS, distinguished by the first byte that is no white space.
    @discardableResult
    public mutating func addPublicKeys(_ file: [UInt8], issuer: [UInt8]? = nil) throws(RightsProblem) -> Added {
        let first = file.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
        if first == UInt8(ascii: "{") { return try addJWKS(file, issuer: issuer) }
        return try addPEM(file, issuer: issuer)
    }

    /// Adds every `PUBLIC KEY` block of a PEM text; an id needs a text of one block.
    ///
    /// All or none.
    @discardableResult
    public mutating func addPEM(
        _ file: [UInt8], keyID: [UInt8]? = nil, issuer: [UInt8]? = nil
    ) throws(RightsProblem) -> Added {
        let blocks = try PEM.blocks(file)
        guard !blocks.isEmpty else { throw .pem("no -----BEGIN PUBLIC KEY----- block") }
        guard keyID == nil || blocks.count == 1 else { throw .keyID("one id for several keys") }
        guard blocks.count <= TokenKeys.keysMax else { throw .tooManyKeys(max: TokenKeys.keysMax) }
        var added: [TokenKey] = []
        for block in blocks {
            guard block.label == Array("PUBLIC KEY".utf8) else { throw TokenKeys.wrongLabel(block.label) }
            let key = try AsymmetricKey(publicDER: block.der)
            added.append(TokenKey(id: keyID, issuer: issuer, material: .asymmetric(key)))
        }
        try add(added)
        return Added(used: added.count, skipped: 0)
    }

    /// Adds the keys of a JWKS text (RFC 7517 section 5).
    ///
    /// All or none; ``Added`` also counts the keys left out.
    @discardableResult
    public mutating func addJWKS(_ file: [UInt8], issuer: [UInt8]? = nil) throws(RightsProblem) -> Added {
        let set = try JWKS(file, issuer: issuer)
        try add(set.keys)
        return Added(used: set.keys.count, skipped: set.skipped)
    }

    /// The reason why bytes are no set of public keys that tokens can be verified with; `nil` when they are one.
    ///
    /// A set from elsewhere must hold no secret: its reader could make tokens.
    public static func problem(inPublicSet file: [UInt8]) -> String? {
        do {
            let set = try JWKS(file, issuer: nil)
            for key in set.keys {
                if case .secret = key.material { return "a secret key (kty oct)" }
            }
            var keys = TokenKeys()
            try keys.add(set.keys)
            return nil
        } catch {
            return error.description
        }
    }

    /// The keys to try with a token.
    enum Selection {
        /// These keys, all of the token's algorithm; at least one.
        case keys([TokenKey])
        /// No key allows the algorithm.
        case algorithmRefused
        /// No key has the id, or the token has none where one is needed.
        case unknownKey
    }

    /// The keys for a token; the rules are those of ``TokenKeys``.
    func select(_ algorithm: TokenAlgorithm, keyID: [UInt8]?) -> Selection {
        let allowed = keys.filter { $0.algorithm == algorithm }
        if let keyID {
            if keys.contains(where: { $0.id == keyID }) {
                let named = allowed.filter { $0.id == keyID }
                return named.isEmpty ? .algorithmRefused : .keys(named)
            }
            if allowed.isEmpty { return .algorithmRefused }
            return allowed.contains { $0.id != nil } ? .unknownKey : .keys(allowed)
        }
        if allowed.isEmpty { return .algorithmRefused }
        let unnamed = allowed.filter { $0.id == nil }
        if !unnamed.isEmpty { return .keys(unnamed) }
        return allowed.count == 1 ? .keys(allowed) : .unknownKey
    }

    private mutating func add(_ more: [TokenKey]) throws(RightsProblem) {
        var all = keys
        for key in more {
            if let id = key.id {
                guard !id.isEmpty, id.count <= TokenKeys.keyIDBytesMax else {
                    throw .keyID("must have 1 to \(TokenKeys.keyIDBytesMax) bytes")
                }
                guard !all.contains(where: { $0.id == id && $0.issuer == key.issuer }) else {
                    throw .keyID("named twice")
                }
            }
            all.append(key)
        }
        guard all.count <= TokenKeys.keysMax else { throw .tooManyKeys(max: TokenKeys.keysMax) }
        guard all.count(where: { $0.id == nil }) <= TokenKeys.unnamedMax else {
            throw .keyID("more than \(TokenKeys.unnamedMax) keys without id; name them with kid")
        }
        keys = all
    }

    private static func wrongLabel(_ label: [UInt8]) -> RightsProblem {
        let label = String(decoding: label, as: UTF8.self)
        if label.hasSuffix("PRIVATE KEY") {
            return .pem("a private key; give its public half (openssl pkey -in FILE -pubout)")
        }
        switch label {
        case "CERTIFICATE": return .pem("a certificate; give its public key (openssl x509 -in FILE -noout -pubkey)")
        case "RSA PUBLIC KEY": return .pem("an old form; convert it (openssl rsa -RSAPublicKey_in -in FILE -pubout)")
        default: return .pem("a block that is not PUBLIC KEY")
        }
    }
}
