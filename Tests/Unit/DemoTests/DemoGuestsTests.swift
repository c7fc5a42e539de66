import Rights
import Testing

@testable import Demo

@Suite struct DemoGuestsTests {
    private static let secret = Array("a secret of the demo that is long enough for HS256, surely".utf8)

    @Test func aGuestsTokenIsGoodForTwelveHoursAndForThatGuestAlone() throws {
        let guests = try DemoGuests(
            secretFile: DemoGuestsTests.secret, keyID: nil, issuer: Array("us".utf8),
            audience: Array("them".utf8))
        let guest = try guests.make(nowSeconds: 1_000_000)
        var keys = TokenKeys()
        try keys.addSecret(DemoGuestsTests.secret, keyID: nil, issuer: Array("us".utf8))
        let verifier = TokenVerifier(
            keys: keys,
            rules: TokenRules(
                tokenBytesMax: 8_192, leewaySeconds: 0, issuer: Array("us".utf8), audience: Array("them".utf8)))
        let identity = try verifier.verify(guest.token, now: 1_000_000).get()
        #expect(identity.user == guest.user)
        #expect(identity.role == .user)
        #expect(identity.topics.map(\.text) == [Array("order:demo".utf8)])
        #expect(identity.expiresAt == 1_043_200)
        #expect(throws: (any Error).self) { try verifier.verify(guest.token, now: 1_043_201).get() }
    }

    @Test func guestsAreTheirOwn() throws {
        let guests = try DemoGuests(
            secretFile: DemoGuestsTests.secret, keyID: nil, issuer: nil, audience: nil)
        let users = try Set((0..<20).map { _ in try guests.make(nowSeconds: 1).user })
        #expect(users.count == 20)
        #expect(users.allSatisfy { $0.starts(with: Array("guest-".utf8)) && Identity.isUser($0) })
    }
}
