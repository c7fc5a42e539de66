import Core

/// A JSON Web Key Set (RFC 7517) read into keys.
///
/// Keys for other purposes (another `use`, `kty`, curve or `alg`, as identity providers publish next to their signing
/// keys) are left out; a broken signing key refuses the whole set. `x5c`, `x5u` and the like are never read and nothing
/// is ever fetched.
struct JWKS {
    let keys: [TokenKey]
    /// Keys left out.
    let skipped: Int

    /// Bytes of one file.
    static let fileBytesMax = 262_144
    /// Bounds of the text; certificate chains count as values.
    static let limits = JSON.Limits(depthMax: 8, elementsMax: 4_096)

    init(_ file: [UInt8], issuer: [UInt8]?) throws(RightsProblem) {
        guard file.count <= JWKS.fileBytesMax else { throw .tooLong(bytesMax: JWKS.fileBytesMax) }
        let json: JSON
        do {
            json = try JSON(parsing: file, limits: JWKS.limits)
        } catch {
            throw .jwks(error.rawValue)
        }
        guard let list = json.root["keys"], list.kind == .array else { throw .jwks("no array \"keys\"") }
        var keys: [TokenKey] = []
        var skipped = 0
        for value in list.members {
            guard keys.count < TokenKeys.keysMax else { throw .tooManyKeys(max: TokenKeys.keysMax) }
            if let key = try JWKS.key(value, issuer: issuer) {
                keys.append(key)
            } else {
                skipped += 1
            }
        }
        guard !keys.isEmpty else { throw .jwks("no key that tokens could be signed with") }
        self.keys = keys
        self.skipped = skipped
    }

    /// One key; `nil` when it has another purpose.
    private static func key(_ jwk: JSON.Value, issuer: [UInt8]?) throws(RightsProblem) -> TokenKey? {
        guard jwk.kind == .object else { throw .jwks("a key is no object") }
        guard let kind = try text(jwk, "kty") else { throw .jwks("a key has no kty") }
        if let use = try text(jwk, "use"), use != Array("sig".utf8) { return nil }
        if let operations = jwk["key_ops"] {
            guard operations.kind == .array else { throw .jwks("key_ops is no array") }
            guard operations.members.contains(where: { $0.stringBytes == Array("verify".utf8) }) else { return nil }
        }
        guard let algorithm = try algorithm(ofKind: kind, jwk) else { return nil }
        if let named = try text(jwk, "alg"), !named.elementsEqual(algorithm.rawValue.utf8) { return nil }
        let id = try text(jwk, "kid")
        return TokenKey(id: id, issuer: issuer, material: try material(algorithm, jwk))
    }

    private static func algorithm(
        ofKind kind: [UInt8], _ jwk: JSON.Value
    ) throws(RightsProblem) -> TokenAlgorithm? {
        if kind.elementsEqual("oct".utf8) { return .hs256 }
        if kind.elementsEqual("RSA".utf8) { return .rs256 }
        let curve = try text(jwk, "crv") ?? []
        if kind.elementsEqual("EC".utf8) && curve.elementsEqual("P-256".utf8) { return .es256 }
        if kind.elementsEqual("OKP".utf8) && curve.elementsEqual("Ed25519".utf8) { return .eddsa }
        return nil
    }

    private static func material(
        _ algorithm: TokenAlgorithm, _ jwk: JSON.Value
    ) throws(RightsProblem) -> TokenKey.Material {
        if algorithm == .hs256 { return .secret(try Secret(checking: number(jwk, "k"))) }
        // A holder of the file could sign tokens; a verifier has no use for that.
        guard jwk["d"] == nil else { throw .jwks("a private key; remove d, p, q, dp, dq and qi") }
        let der: [UInt8]
        switch algorithm {
        case .rs256:
            let (modulus, exponent) = (try number(jwk, "n"), try number(jwk, "e"))
            guard modulus.count <= AsymmetricKey.rsaBits.upperBound / 8 + 1, exponent.count <= 8 else {
                throw .keyRefused("an RSA number is too long")
            }
            der = PublicKeyInfo.rsa(modulus: modulus, exponent: exponent)
        case .es256:
            let (x, y) = (try number(jwk, "x"), try number(jwk, "y"))
            guard x.count == 32, y.count == 32 else { throw .keyRefused("P-256 coordinates must have 32 bytes") }
            der = PublicKeyInfo.p256(x: x, y: y)
        default:
            let x = try number(jwk, "x")
            guard x.count == 32 else { throw .keyRefused("an Ed25519 key must have 32 bytes") }
            der = PublicKeyInfo.ed25519(x)
        }
        return .asymmetric(try AsymmetricKey(publicDER: der))
    }

    private static func text(_ jwk: JSON.Value, _ name: String) throws(RightsProblem) -> [UInt8]? {
        guard let value = jwk[name] else { return nil }
        guard let bytes = value.stringBytes else { throw .jwks("\(name) is no string") }
        return bytes
    }

    /// A required base64url member.
    private static func number(_ jwk: JSON.Value, _ name: String) throws(RightsProblem) -> [UInt8] {
        guard let encoded = try text(jwk, name) else { throw .jwks("a key has no \(name)") }
        guard let bytes = Base64.decode(encoded, .url), !bytes.isEmpty else {
            throw .jwks("\(name) is not unpadded base64url")
        }
        return bytes
    }
}
