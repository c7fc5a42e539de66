import Configuration
import Core
import Rights
import Service

/// Creates guests for the demo's page, and knows them again.
///
/// A guest has a random name, and a token for it. The simulated people get tokens here, too.
/// Immutable and thread-safe.
struct DemoGuests: Sendable {
    /// A guest, in the form for the page.
    struct Guest {
        let user: [UInt8]
        let token: [UInt8]
    }

    private let signer: TokenSigner
    private let verifier: TokenVerifier
    private let issuer: [UInt8]?
    private let audience: [UInt8]?

    /// The demo's order, to which every guest may subscribe.
    private static let topics = [TopicPattern("order:" + DemoOrder.id)].compactMap { $0 }
    /// Lifetime of a guest's token, seconds: 12 hours.
    static let tokenSeconds = 43_200

    /// Bytes of a guest's token.
    private static let tokenBytesMax = 8_192

    /// Guests whose tokens are signed with the content of the secret file with which the node checks them.
    init(secretFile: [UInt8], keyID: [UInt8]?, issuer: [UInt8]?, audience: [UInt8]?) throws(RightsProblem) {
        signer = try TokenSigner(secretFile: secretFile, keyID: keyID)
        var keys = TokenKeys()
        try keys.addSecret(secretFile, keyID: keyID)
        verifier = TokenVerifier(
            keys: keys,
            rules: TokenRules(
                tokenBytesMax: DemoGuests.tokenBytesMax, leewaySeconds: 0, issuer: issuer, audience: audience))
        self.issuer = issuer
        self.audience = audience
    }

    /// Guests of a gateway with these settings; `nil` without a secret to sign with.
    init?(_ settings: GatewaySettings) throws(StartProblem) {
        guard let secret = settings.jwtSecretFiles.first else { return nil }
        do {
            let bytes = try Files.read(secret.path, bytesMax: 4 << 20)
            try self.init(
                secretFile: bytes, keyID: secret.keyID.map { Array($0.utf8) },
                issuer: settings.jwtIssuer.map { Array($0.utf8) },
                audience: settings.jwtAudience.map { Array($0.utf8) })
        } catch {
            throw StartProblem("\(secret.path): \(error)")
        }
    }

    /// A new guest.
    ///
    /// Throws when the clock is outside the times that a token can express.
    func make(nowSeconds: Int) throws(RightsProblem) -> Guest {
        let user = Array("guest-\(DemoGuests.randomText(5))".utf8)
        let (expiresAt, overflow) = nowSeconds.addingReportingOverflow(DemoGuests.tokenSeconds)
        guard !overflow,
            let identity = Identity(
                user: user, role: .user, topics: DemoGuests.topics, expiresAt: expiresAt, issuedAt: nowSeconds,
                issuer: issuer)
        else { throw .claims("a guest cannot be made now") }
        return Guest(user: user, token: try signer.sign(try TokenClaims(identity, audience: audience)))
    }

    /// A token of one of the simulated people, who is called by the same name.
    ///
    /// Throws when the clock is outside the times that a token can express.
    func person(_ name: String, nowSeconds: Int) throws(RightsProblem) -> [UInt8] {
        let (expiresAt, overflow) = nowSeconds.addingReportingOverflow(DemoGuests.tokenSeconds)
        guard !overflow,
            let identity = Identity(
                user: Array(name.utf8), role: .user, topics: nil, expiresAt: expiresAt, issuedAt: nowSeconds,
                issuer: issuer, name: Array(PeopleWords.display(name).utf8))
        else { throw .claims("a token cannot be made now") }
        return try signer.sign(try TokenClaims(identity, audience: audience))
    }

    /// The guest that a token names; `nil` for a token that is none of a guest's.
    func user(of token: [UInt8], nowSeconds: Int) -> String? {
        guard case .success(let identity) = verifier.verify(token, now: nowSeconds) else { return nil }
        let user = String(decoding: identity.user, as: UTF8.self)
        return user.hasPrefix("guest-") ? user : nil
    }

    /// Random small letters and digits, without those that look alike.
    static func randomText(_ count: Int) -> String {
        let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789".utf8)
        return String(
            decoding: SecureRandom.bytes(count).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
    }
}
