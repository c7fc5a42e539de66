import Core
import Testing

@testable import Push

/// APNs's answers, as its documentation lists them.
@Suite struct APNsVerdictTests {
    private func verdict(_ status: Int, _ body: String = "", retry: Int? = nil) -> APNsVerdict {
        APNsVerdict.of(status: status, body: Fixture.bytes(body), retryAfterSeconds: retry, registeredMs: 5_000)
    }

    private func reason(_ status: Int, _ word: String) -> APNsVerdict { verdict(status, #"{"reason":"\#(word)"}"#) }

    @Test func eachAnswerHasItsMeaning() {
        #expect(verdict(200) == .sent)
        #expect(reason(400, "BadDeviceToken") == .misplaced)
        #expect(reason(400, "IdleTimeout") == .again(afterMs: nil))
        for word in ["BadTopic", "MissingTopic", "TopicDisallowed"] {
            #expect(reason(400, word) == .closed(forMs: 300_000, isFault: true))
        }
        for word in ["DeviceTokenNotForTopic", "BadCollapseId", "BadExpirationDate", "PayloadEmpty", "", "Whatever"] {
            #expect(reason(400, word) == .refused)
        }
        #expect(reason(403, "ExpiredProviderToken") == .expired)
        #expect(reason(403, "InvalidProviderToken") == .closed(forMs: 300_000, isFault: true))
        #expect([404, 405, 413].allSatisfy { verdict($0) == .refused })
        #expect(reason(429, "TooManyRequests") == .again(afterMs: 60_000))
        #expect(verdict(429, retry: 90) == .again(afterMs: 90_000))
        #expect(reason(429, "TooManyProviderTokenUpdates") == .closed(forMs: 1_200_000, isFault: true))
        #expect([500, 502, 503, 302, 0].allSatisfy { verdict($0) == .away(afterMs: nil) })
        #expect(verdict(503, retry: 99_999) == .away(afterMs: 3_600_000))
    }

    @Test func aTokenIsDeadUnlessItRegisteredSince() {
        func gone(_ timestamp: String) -> APNsVerdict {
            verdict(410, #"{"reason":"Unregistered","timestamp":\#(timestamp)}"#)
        }
        #expect(gone("5000") == .dead(untilMs: 5_000) && gone("9000") == .dead(untilMs: 9_000))
        #expect(gone("4999") == .again(afterMs: nil))
        #expect(verdict(410, "<html>") == .dead(untilMs: 5_000))
    }

    @Test func aProviderTokenIsRenewedAfterFiftyMinutesAndNotBeforeTwenty() throws {
        let token = ProviderToken(madeSecond: 10_000, text: Fixture.bytes("a.b-c_d.e"))
        #expect(token.isGood(at: 10_000) && token.isGood(at: 12_999) && !token.isGood(at: 13_000))
        #expect(!token.isGood(at: 9_939), "of a clock that is ahead")
        #expect(!token.mayBeReplaced(at: 11_259) && token.mayBeReplaced(at: 11_260))
        #expect(ProviderToken(shared: token.shared) == token)
        for text in ["", "10", "10 ", "x a", "10 a b", "10 a\n"] {
            #expect(ProviderToken(shared: Fixture.bytes(text)).map { $0.text.isEmpty } ?? true)
        }
        #expect(ProviderToken.claims(team: Fixture.bytes("T1"), second: 7) == Fixture.bytes(#"{"iss":"T1","iat":7}"#))
    }
}
