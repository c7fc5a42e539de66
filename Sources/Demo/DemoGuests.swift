import Configuration
import Core
import Rights
import Service

/// Creates guests for the demo's page: a random name, and a token for it.
///
/// Immutable and thread-safe.
struct DemoGuests: Sendable {
    /// A guest, in the form for the page.
    struct Guest {
        let user: [UInt8]
        let token: [UInt8]
    }

    private let signer: TokenSigner
    private let issuer: [UInt8]?
    private let audience: [UInt8]?

    /// The demo's order, to which every guest may subscribe.
    private static let topics = [TopicPattern("order:" + DemoOrder.id)].compactMap { $0 }
    /// Lifetime of a guest's token, seconds: 12 hours.
    static let tokenSeconds = 43_200

    /// Guests whose tokens are signed with the secret with which the node checks them.
    init(signer: TokenSigner, issuer: [UInt8]?, audience: [UInt8]?) {
        self.signer = signer
        self.issuer = issuer
        self.audience = audience
    }

    /// Guests of a gateway with these settings; `nil` without a secret to sign with.
    init?(_ settings: GatewaySettings) throws(StartProblem) {
        guard let secret = settings.jwtSecretFiles.first else { return nil }
        do {
            let bytes = try Files.read(secret.path, bytesMax: 4 << 20)
            self.init(
                signer: try TokenSigner(secretFile: bytes, keyID: secret.keyID.map { Array($0.utf8) }),
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

    /// Random small letters and digits, without those that look alike.
    static func randomText(_ count: Int) -> String {
        let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789".utf8)
        return String(
            decoding: SecureRandom.bytes(count).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
    }
}
