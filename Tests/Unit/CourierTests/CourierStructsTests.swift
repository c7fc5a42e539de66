import Configuration
import Core
import Foundation
import TestSupport
import Testing

@testable import Courier

@Suite struct CourierStructsTests {
    private func hook(topics: [String], events: [String] = []) -> WebhookPatterns {
        var settings = WebhookSettings(name: "h", url: "https://x", secretFile: "", topics: topics)
        settings.events = events
        return WebhookPatterns(settings)
    }

    @Test func theScriptThatEndsCallsIsThatOfThePage() throws {
        let page = try ProjectFiles.text("docs/courier.md")
        #expect(page.contains("```lua\n" + CourierScripts.finishText.dropLast(1) + "\n```"))
    }

    @Test func aTokenIsFetchedOnceAndRenewedBeforeItsEnd() {
        var token = ServiceToken()
        func next(_ nowMs: Int) -> ServiceToken.Step { token.next(nowMs: nowMs) }
        #expect([next(0), next(0)] == [.fetch, .wait])
        token.fetched("a", seconds: 3_600, nowMs: 0)
        #expect(next(2_999_999) == .use("a", renew: false))
        #expect(
            [next(3_000_000), next(3_000_001)] == [.use("a", renew: true), .use("a", renew: false)], "one fetches")
        token.failed(nowMs: 3_000_001)
        #expect(next(3_010_001) == .use("a", renew: true), "another try")
        token.refused("b")
        #expect(next(3_010_002) == .use("a", renew: false), "another token was refused")
        token.refused("a")
        #expect(next(3_010_003) == .wait)
        token.fetched("c", seconds: -5, nowMs: 3_010_004)
        #expect([next(3_010_005), next(3_020_000)] == [.use("c", renew: false), .fetch])
    }

    @Test func aTopicIsWorkedOnOnceAtATimeAndLookedAtAgain() throws {
        var topics = WebhookTopics(countMax: 2)
        func next(_ nowMs: Int) -> String? { topics.next(nowMs: nowMs)?.description }
        let all = ["order:1", "order:2", "order:3"].compactMap { Topic($0) }
        let one = try #require(all.first)
        topics.noted(one)
        topics.noted(one)
        #expect([next(0), next(0)] == ["order:1", nil])
        topics.noted(one)
        #expect(next(0) == nil)
        topics.ended(one)
        #expect(next(0) == "order:1", "it was told meanwhile")
        topics.ended(one, againMs: 50)
        topics.noted(one)
        #expect(topics.nextMs == 50)
        #expect([next(49), next(50)] == [nil, "order:1"])
        topics.ended(one, againMs: 90)
        topics.wake()
        #expect(next(51) == "order:1")
        topics.ended(one)
        for topic in all { topics.noted(topic) }
        #expect(topics.isIncomplete && topics.waitingCount == 2)
    }

    @Test func patternsTakeWhatTheyName() throws {
        let patterns = hook(topics: ["order:*", "shop:7"], events: ["a.*", "done"])
        let taken = ["order:1", "order:x:y", "shop:7"].compactMap { Topic($0) }
        let left = ["orders:1", "shop:77", "user:order:1"].compactMap { Topic($0) }
        #expect(taken.allSatisfy { patterns.takes($0) } && !left.contains { patterns.takes($0) })
        let names = ["a.b", "a.", "done", "a", "done2", "b"].map { patterns.takes(event: Array($0.utf8)) }
        #expect(names == [true, true, true, false, false, false])
    }

    @Test func signaturesAreThoseOfTheSpecification() throws {
        // The example in the README of Standard Webhooks' libraries.
        let signer = try WebhookSigner(file: Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8))
        let signature = signer.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array("{\"test\": 2432232314}".utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        for text in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_not base64 at all!"] {
            #expect(throws: WebhookSigner.Fault.self) { try WebhookSigner(file: Array(text.utf8)) }
        }
    }

    @Test func whatIsKeptIsBoundedAndEnds() {
        var cache = AnswerCache<Int>(countMax: 2)
        for (index, name) in ["a", "b", "a", "c"].enumerated() { cache.keep(index, to: name, untilMs: 10 + index) }
        #expect(["a", "b", "c"].map { cache.answer(to: $0, nowMs: 10) } == [nil, 1, 3])
        #expect(cache.answer(to: "b", nowMs: 11) == nil)
    }

    @Test func aRequestThatWouldBreakOutOfItsPlaceIsUnsound() {
        func request(_ url: String, _ fields: [(name: String, value: String)] = []) -> Bool {
            WebRequest(.get, url, headers: fields, deadlineMs: 0).isSound
        }
        #expect(request("https://x/a?b=%20", [("a-b", "c d")]))
        #expect(!request("https://x/a b") && !request("https://x/\r\nHost:y") && !request("https://x/ä"))
        #expect(!request("https://x/", [("a", "b\r\nc: d")]) && !request("https://x/", [("a:b", "c")]))
        #expect(!request("https://x/", [("", "c")]) && !request("https://x/", [("a", "\0")]))
    }
}
