import Core
import RedisLink
import Testing

@testable import Configuration
@testable import Courier

/// The deliveries to a receiver: each topic's events in order, and again after a failure.
///
/// An event that must not be sent again gives way to the next.
@Suite struct WebhookLaneTests {
    /// A topic's log as `courier_step` reads it.
    private final class TopicLog {
        var events: [(offset: Int, name: String, data: String)] = []
        var done: Int?
        /// The answer of a read in place of a page: another courier has the topic for so long.
        var heldMs: Int?
        /// Whether the lease is this courier's.
        var isLeased = false
    }

    private final class World {
        let parts: CourierParts
        let redis: FakeRedis
        let web = FakeWeb()
        let clock = ManualClock()
        let lane: WebhookLane
        var logs: [String: TopicLog] = [:]
        private let mark: RESPValue?

        /// `mark` is the reply about the time from which the receiver gets events; `nil`: there is none yet.
        init(mark: RESPValue? = list("5", "0"), _ change: (inout WebhookSettings) -> Void = { _ in }) throws {
            self.mark = mark
            parts = try TestParts.made { change(&$0.webhooks[0]) }
            redis = FakeRedis(parts.scripts)
            let signer = try #require(parts.secrets.signers[TestParts.receiver])
            lane = WebhookLane(parts, parts.receivers[0], signer: signer, link: redis, web: web) { [clock] in
                clock.nowMs
            }
            redis.reply = { [weak self] in self?.answer($0) }
            lane.sweeps()
            redis.settle()
        }

        private func answer(_ words: [String]) -> RESPValue? {
            switch words[0] {
            case "mark": mark
            case "step": step(words)
            default: .integer(1)
            }
        }

        private func step(_ words: [String]) -> RESPValue {
            let topic = String(words[4].dropLast("#log".count))
            guard let log = logs[topic], let count = Int(words[10]) else { return .array([.integer(2)]) }
            if let heldMs = log.heldMs { return .array([.integer(0), .integer(heldMs)]) }
            if let done = Int(words[9]) { log.done = done }
            log.isLeased = count >= 0
            if count == 0 { return .array([.integer(1)]) }
            let page = count < 0 ? [] : log.events.filter { $0.offset > log.done ?? 0 }.prefix(count)
            guard let last = log.events.last, !page.isEmpty else {
                log.isLeased = false
                return .array([.integer(2)])
            }
            let entries = page.map {
                RESPValue.array([
                    .string(bytes("\($0.offset)-0")), list("e", $0.name, "d", $0.data, "i", "-", "t", "9"),
                ])
            }
            let done = log.done.map { String($0) } ?? "-"
            return .array(
                [.integer(3)] + ["e1", done, String(last.offset)].map { .string(bytes($0)) }
                    + [.array(entries), .string([]), .string(bytes("0"))])
        }

        /// Adds events from an offset on, and reports them.
        func publish(_ topic: String, from first: Int = 1, _ names: String...) throws {
            let log = logs[topic] ?? TopicLog()
            logs[topic] = log
            log.events += names.enumerated().map { (first + $0, $1, "{}") }
            lane.noted(try #require(Topic(topic)))
            work()
        }

        func work() {
            lane.work(nowMs: clock.nowMs)
            redis.settle()
        }

        func answer(_ status: Int, headers: [(name: String, value: String)] = []) throws {
            try web.answer(status, headers: headers)
            redis.settle()
        }

        func fail(_ failure: WebFailure) throws {
            try web.fail(failure)
            redis.settle()
        }

        /// Lets the pause of a retry pass.
        func retry() throws {
            clock.pass(max(lane.nextMs - clock.nowMs, 0))
            work()
        }

        var ids: [String] { web.sent.map { $0.field("webhook-id") } }
    }

    @Test func eventsOfATopicGoOneAfterAnother() throws {
        let world = try World()
        try world.publish("order:1", "a", "b", "c")
        for offset in 1...3 {
            #expect(world.ids.last == "order:1:e1:\(offset)" && world.web.openCount == 1)
            try world.answer(204)
        }
        #expect(world.ids.count == 3 && world.lane.counts.sent == 3)
        #expect(world.logs["order:1"]?.done == 3 && world.logs["order:1"]?.isLeased == false)
        #expect(world.lane.busyCount == 0 && world.lane.waitingCount == 0 && world.lane.nextMs == Int.max)
    }

    @Test func aRequestSaysWhatHappenedAndIsSigned() throws {
        let world = try World()
        try world.publish("order:1", "paid")
        let request = try world.web.last
        #expect(request.url == "https://shop.example/hooks" && request.field("content-type") == "application/json")
        #expect(
            request.bodyText == ##"{"type":"paid","timestamp":"1970-01-01T00:00:00.009Z","topic":"order:1","##
                + ##""epoch":"e1","offset":1,"data":{}}"##)
        #expect(request.deadlineMs == world.clock.nowMs + world.parts.limits.courier.webhookMs)
        let second = try #require(Int(request.field("webhook-timestamp")))
        let signature = world.lane.signer.signature(
            id: request.field("webhook-id"), timestamp: second, body: bytes(request.bodyText))
        #expect(request.field("webhook-signature") == signature && signature.hasPrefix("v1,"))
    }

    @Test func topicsDoNotWaitForEachOther() throws {
        let world = try World()
        try world.publish("order:1", "a", "b")
        try world.publish("order:2", "c")
        #expect(world.ids == ["order:1:e1:1", "order:2:e1:1"] && world.lane.busyCount == 2)
        try world.answer(500)
        try world.answer(200)
        #expect(world.lane.counts.sent == 1 && world.logs["order:2"]?.done == 1)
    }

    @Test func onlyWantedTopicsAndEventsAreSent() throws {
        let world = try World { $0.events = ["paid"] }
        try world.publish("shop:1", "paid")
        #expect(world.redis.calls("step").isEmpty)
        try world.publish("order:1", "seen", "paid", "seen")
        #expect(world.ids == ["order:1:e1:2"])
        try world.answer(200)
        #expect(world.logs["order:1"]?.done == 3 && world.web.openCount == 0)
    }

    @Test func nothingIsSentBeforeItIsKnownSinceWhen() throws {
        let world = try World(mark: nil)
        try world.publish("order:1", "a")
        #expect(world.web.sent.isEmpty)
        try world.redis.release(.success(list("5", "1")))
        world.work()
        #expect(world.ids == ["order:1:e1:1"])
    }

    @Test func nothingBeginsWithoutRedisOrAtTheEnd() throws {
        let world = try World()
        world.redis.isReady = false
        try world.publish("order:1", "a")
        world.redis.isReady = true
        world.lane.isDraining = true
        world.work()
        #expect(world.web.sent.isEmpty)
        world.lane.isDraining = false
        world.work()
        #expect(world.ids == ["order:1:e1:1"])
    }

    @Test func whatWasPublishedBeforeTheReceiverIsNotSent() throws {
        let world = try World(mark: list("10", "0"))
        try world.publish("order:1", "a")
        #expect(world.web.sent.isEmpty && world.logs["order:1"]?.done == 1 && world.lane.busyCount == 0)
    }

    @Test func aRefusedEventIsSentAgainAndHoldsUpItsTopicAlone() throws {
        let world = try World()
        try world.publish("order:1", "a", "b")
        for attempt in 1...4 {
            try world.answer(500)
            #expect(world.web.openCount == 0 && world.logs["order:1"]?.isLeased == false)
            let pauseMs = world.lane.nextMs - world.clock.nowMs
            #expect((250 << attempt...500 << attempt).contains(pauseMs), "attempt \(attempt): \(pauseMs)")
            world.clock.pass(pauseMs - 1)
            world.work()
            #expect(world.web.openCount == 0)
            try world.retry()
            #expect(world.web.openCount == 1)
        }
        #expect(Set(world.ids) == ["order:1:e1:1"] && world.lane.counts.failed == ["status_5xx": 4])
        #expect(!world.lane.isOpen, "the receiver is there")
        try world.answer(200)
        #expect(world.ids.last == "order:1:e1:2")
    }

    @Test func anEventThatIsRefusedForTooLongIsGivenUp() throws {
        let world = try World { $0.giveUpSeconds = 60 }
        try world.publish("order:1", "a", "b")
        try world.answer(400)
        world.clock.pass(59_000)
        try world.retry()
        try world.answer(400)
        #expect(world.lane.counts.dead == 0)
        world.clock.pass(30_000)
        try world.retry()
        try world.answer(400)
        let dead = try #require(world.redis.calls("XADD").first)
        #expect(dead[1] == text(world.parts.keys.webhookDead(TestParts.receiver)))
        #expect(
            dead.suffix(11) == [
                "*", "id", "order:1:e1:1", "topic", "order:1", "reason", "status 400", "e", "a", "d", "{}",
            ])
        #expect(world.redis.calls("EXPIRE", dead[1]).count == 1)
        #expect(world.lane.counts.dead == 1 && world.ids.last == "order:1:e1:2", "the next one goes")
    }

    @Test(arguments: [410, 413]) func aFinalAnswerGivesUpAtOnce(_ status: Int) throws {
        let world = try World()
        try world.publish("order:1", "a", "b")
        try world.answer(status)
        #expect(world.lane.counts.dead == 1 && world.ids == ["order:1:e1:1", "order:1:e1:2"])
    }

    @Test func anEventThatIsNotGivenUpInRedisIsReadAgain() throws {
        let world = try World()
        try world.publish("order:1", "a")
        world.redis.failure = RedisFailure(.outOfMemory)
        try world.answer(410)
        #expect(world.lane.counts.dead == 0)
        world.redis.failure = nil
        try world.retry()
        #expect(world.ids == ["order:1:e1:1", "order:1:e1:1"])
    }

    @Test func whatCannotBeReadIsGivenUpWithoutARequest() throws {
        let world = try World()
        world.logs["order:1"] = TopicLog()
        world.logs["order:1"]?.events = [(1, "a", "no JSON"), (2, "b", "{}")]
        world.lane.noted(try #require(Topic("order:1")))
        world.work()
        #expect(world.ids == ["order:1:e1:2"] && world.lane.counts.dead == 1)
        #expect(world.redis.calls("XADD").first?.contains("the event cannot be read") == true)
    }

    @Test func aReceiverThatIsAwayGetsSingleAttemptsAndLosesNothing() throws {
        let world = try World { $0.giveUpSeconds = 1 }
        for topic in 1...3 { try world.publish("order:\(topic)", "a") }
        for _ in 0..<3 { try world.fail(.unreachable) }
        while !world.lane.isOpen {
            try world.retry()
            while world.web.openCount > 0 { try world.fail(.unreachable) }
        }
        #expect(world.lane.counts.dead == 0)
        let reads = world.redis.calls("step").count
        try world.retry()
        #expect(world.web.openCount == 1, "one attempt for all topics")
        #expect(world.redis.calls("step").count == reads + 1, "and no other topic is read")
        try world.answer(200)
        #expect(!world.lane.isOpen)
        world.work()
        #expect(world.web.openCount == 2, "the others need not wait for their time")
        try world.answer(200)
        try world.answer(200)
        #expect(world.lane.counts.sent == 3 && world.lane.counts.dead == 0)
    }

    @Test func aReceiversWishToBeLeftAloneIsHeeded() throws {
        let world = try World()
        try world.publish("order:1", "a")
        try world.answer(429, headers: [("retry-after", "40")])
        try world.publish("order:2", "b")
        world.clock.pass(39_999)
        world.work()
        #expect(world.web.openCount == 0)
        world.clock.pass(1)
        world.work()
        #expect(world.web.openCount == 2)
    }

    @Test func aTopicOfAnotherCourierIsLookedAtOnceItsLeaseIsOver() throws {
        let world = try World()
        world.logs["order:1"] = TopicLog()
        world.logs["order:1"]?.heldMs = 500
        try world.publish("order:1", "a")
        #expect(world.web.sent.isEmpty && (520...700).contains(world.lane.nextMs - world.clock.nowMs))
        world.logs["order:1"]?.heldMs = nil
        try world.retry()
        #expect(world.ids == ["order:1:e1:1"])
    }

    @Test func aTopicThatAnotherCourierTookMeanwhileIsLeft() throws {
        let world = try World()
        try world.publish("order:1", "a", "b")
        world.logs["order:1"]?.heldMs = 300
        try world.answer(200)
        #expect(world.ids.count == 1 && world.lane.waitingCount == 1)
    }

    @Test func aLostRedisIsAskedAgain() throws {
        let world = try World()
        world.redis.failure = RedisFailure(.disconnected)
        try world.publish("order:1", "a")
        #expect(world.web.sent.isEmpty && world.lane.nextMs == world.clock.nowMs + 500)
        world.redis.failure = nil
        try world.retry()
        #expect(world.ids == ["order:1:e1:1"])
    }

    @Test func aGapComesBeforeTheEventThatFollowsIt() throws {
        let world = try World()
        world.logs["order:1"] = TopicLog()
        world.logs["order:1"]?.done = 1
        try world.publish("order:1", from: 5, "e")
        #expect(world.ids == ["order:1:e1:5:gap"])
        #expect(try world.web.last.bodyText.hasSuffix(#""after":{"epoch":"e1","offset":1},"data":{"missed":3}}"#))
        try world.answer(200)
        #expect(world.lane.counts.gaps == 1 && world.logs["order:1"]?.done == 4, "the event itself is not done")
        try world.answer(200)
        #expect(world.ids.last == "order:1:e1:5" && world.logs["order:1"]?.done == 5)
    }

    @Test func anEndFinishesWhatIsOnItsWayAndSetsTheTopicBack() throws {
        let world = try World()
        try world.publish("order:1", "a", "b")
        world.lane.isDraining = true
        try world.answer(200)
        #expect(world.ids.count == 1 && world.logs["order:1"]?.done == 1)
        #expect(world.logs["order:1"]?.isLeased == false && world.lane.busyCount == 0)
    }

    @Test func whatIsPublishedDuringTheWorkIsSentToo() throws {
        let world = try World()
        try world.publish("order:1", "a")
        try world.publish("order:1", from: 2, "b")
        #expect(world.web.openCount == 1)
        try world.answer(200)
        #expect(world.ids.last == "order:1:e1:2")
        try world.answer(200)
        world.work()
        #expect(world.lane.counts.sent == 2 && world.web.openCount == 0)
    }

    @Test func aNewSecretSignsFromTheNextEventOn() throws {
        let world = try World()
        try world.publish("order:1", "a")
        world.lane.signer = try WebhookSigner(file: bytes("whsec_" + String(repeating: "Q", count: 32)))
        try world.answer(500)
        try world.retry()
        #expect(Set(world.ids).count == 1)
        #expect(world.web.sent[0].field("webhook-signature") != world.web.sent[1].field("webhook-signature"))
    }
}
