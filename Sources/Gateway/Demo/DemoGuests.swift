import Core
import Rights

/// Makes guests for the demo's page: a name by chance, and a token for it.
///
/// Immutable and thread-safe.
struct DemoGuests: Sendable {
    /// A guest as the page gets one.
    struct Guest {
        let user: [UInt8]
        let token: [UInt8]
    }

    private let signer: TokenSigner
    private let issuer: [UInt8]?
    private let audience: [UInt8]?

    /// The demo's order, which every guest may hear.
    private static let topics = [TopicPattern("order:" + DemoOrder.id)].compactMap { $0 }
    /// How long a guest's token is good, seconds: 12 hours.
    static let tokenSeconds = 43_200

    /// Makes a maker that signs with the secret that the node checks tokens with.
    init(signer: TokenSigner, issuer: [UInt8]?, audience: [UInt8]?) {
        self.signer = signer
        self.issuer = issuer
        self.audience = audience
    }

    /// A new guest.
    ///
    /// Throws when the clock is out of the times that a token can name.
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
