import Core

/// Checks tokens: compact JWS (RFC 7515) with JWT claims (RFC 7519), after the advice of RFC 8725.
///
/// Order: length, segments, header, key, signature, and only then claims. No claim is decoded before the signature was
/// verified. `jwk`, `jku`, `x5u`, `x5c` in a header are ignored, never followed. Immutable and thread-safe; a reload of
/// keys makes a new verifier.
public struct TokenVerifier: Sendable {
    /// The keys.
    public let keys: TokenKeys
    /// The rules.
    public let rules: TokenRules
    /// The secrets of the gateway's own tokens.
    public let grants: GrantKeys

    private static let headerLimits = JSON.Limits(depthMax: 4, elementsMax: 64)
    private static let claimLimits = JSON.Limits(depthMax: 8, elementsMax: 1_024)

    /// Makes a verifier.
    public init(keys: TokenKeys, rules: TokenRules, grants: GrantKeys = GrantKeys()) {
        self.grants = grants
        self.keys = keys
        self.rules = rules
    }

    /// The identity in a token, or the reason why it is refused.
    ///
    /// `now` is Unix time in seconds. A token is valid while `now < exp + leeway` and from `now + leeway >= nbf`.
    /// *Complexity*: linear in the token, plus at most one signature check per key of the algorithm.
    ///
    /// A token of an anonymous role is refused, since it names no user; ``caller(of:now:)`` accepts it.
    public func verify(_ token: [UInt8], now: Int) -> Result<Identity, TokenFailure> {
        caller(of: token, now: now).flatMap { caller in
            guard case .user(let identity) = caller else { return .failure(.anonymous) }
            return .success(identity)
        }
    }

    /// The caller that presents a token: a user, a service, or an anonymous caller when its role is anonymous.
    public func caller(of token: [UInt8], now: Int) -> Result<Caller, TokenFailure> {
        do throws(TokenFailure) {
            return .success(try judge(token, now: now))
        } catch {
            return .failure(error)
        }
    }

    private func judge(_ token: [UInt8], now: Int) throws(TokenFailure) -> Caller {
        guard !token.isEmpty, token.count <= rules.tokenBytesMax else { throw .length }
        let dot = UInt8(ascii: ".")
        guard let first = token.firstIndex(of: dot),
            let second = token[(first + 1)...].firstIndex(of: dot),
            !token[(second + 1)...].contains(dot)
        else { throw .shape }
        let header = try TokenVerifier.header(token[..<first])
        if header.isGrant { return try judgeGrant(token, payload: (first + 1)..<second, now: now) }
        let candidates: [TokenKey]
        switch keys.select(header.algorithm, keyID: header.keyID) {
        case .keys(let keys): candidates = keys
        case .algorithmRefused: throw .algorithm
        case .unknownKey: throw .key
        }
        guard let signature = Base64.decode(token[(second + 1)...], .url) else { throw .encoding }
        let signed = token[..<second]
        guard let key = candidates.first(where: { $0.verifies(signature, of: signed) }) else { throw .signature }
        // From here on the bytes are the issuer's.
        guard let payload = Base64.decode(token[(first + 1)..<second], .url) else { throw .encoding }
        let claims = try TokenVerifier.object(payload, TokenVerifier.claimLimits, or: .claims)
        return try TokenClaimReader(claims: claims, rules: rules, now: now).caller(verifiedBy: key)
    }

    /// Checks a token of the gateway's own: no other key may have signed it, and no other rule prolongs it.
    private func judgeGrant(_ token: [UInt8], payload: Range<Int>, now: Int) throws(TokenFailure) -> Caller {
        guard !grants.isEmpty else { throw .key }
        guard let signature = Base64.decode(token[(payload.upperBound + 1)...], .url),
            let bytes = Base64.decode(token[payload], .url)
        else { throw .encoding }
        guard let key = grants.signer(signature, of: token[..<payload.upperBound]) else { throw .signature }
        let claims = try TokenVerifier.object(bytes, TokenVerifier.claimLimits, or: .claims)
        guard let grant = Grant(claims), let identity = Identity(grant, keyMark: key.mark) else { throw .claims }
        guard now < grant.expiresAt + max(0, rules.leewaySeconds) else { throw .expired }
        return .user(identity)
    }

    private static func header(
        _ segment: ArraySlice<UInt8>
    ) throws(TokenFailure) -> (algorithm: TokenAlgorithm, keyID: [UInt8]?, isGrant: Bool) {
        guard let bytes = Base64.decode(segment, .url) else { throw .encoding }
        let header = try object(bytes, headerLimits, or: .header)
        for name in ["crit", "b64", "zip", "enc", "cty"] where header[name] != nil { throw .extended }
        var isGrant = false
        if let type = header["typ"] {
            guard let type = type.stringBytes else { throw .header }
            isGrant = type.elementsEqual(GrantKeys.type.utf8)
            guard isGrant || ["JWT", "at+jwt"].contains(where: { ASCII.equalIgnoringCase(type, Array($0.utf8)) }) else {
                throw .extended
            }
        }
        guard let name = header["alg"]?.stringBytes, let algorithm = TokenAlgorithm(name) else { throw .algorithm }
        guard !isGrant || (algorithm == .hs256 && header["kid"] == nil) else { throw .header }
        guard let kid = header["kid"] else { return (algorithm, nil, isGrant) }
        guard let keyID = kid.stringBytes, !keyID.isEmpty, keyID.count <= TokenKeys.keyIDBytesMax else {
            throw .header
        }
        guard TokenKeys.isKeyID(keyID) else { throw .key }
        return (algorithm, keyID, false)
    }

    private static func object(
        _ bytes: [UInt8], _ limits: JSON.Limits, or failure: TokenFailure
    ) throws(TokenFailure) -> JSON.Value {
        guard let json = try? JSON(parsing: bytes, limits: limits), json.root.kind == .object else { throw failure }
        return json.root
    }
}
