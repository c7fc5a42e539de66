import Core
import RedisLink
import Testing

@testable import Configuration
@testable import Courier

/// Which service gets a question or a call, how often, and what becomes of its answer.
@Suite struct ServiceDispatcherTests {
    private final class FakeService: OutsideService {
        let name: String
        var isOpen = false
        let tryMs = 10_000
        var heldMax = 32
        let requests = 0
        let failures = 0
        private(set) var asked: [(request: String, deadlineMs: Int)] = []
        private var open: [(Result<[UInt8], ServiceFailure>) -> Void] = []

        init(_ name: String) { self.name = name }

        var openCount: Int { open.count }

        func ask(
            _ request: JSON.Value, deadlineMs: Int, _ completion: @escaping (Result<[UInt8], ServiceFailure>) -> Void
        ) {
            asked.append((text(request.raw), deadlineMs))
            open.append(completion)
        }

        /// Answers the oldest open request; returns its completion, which may be called again too late.
        @discardableResult
        func end(_ result: Result<[UInt8], ServiceFailure>) throws -> (Result<[UInt8], ServiceFailure>) -> Void {
            try #require(!open.isEmpty, "nothing is asked")
            let completion = open.removeFirst()
            completion(result)
            return completion
        }
    }

    private final class World {
        let parts: CourierParts
        let redis: FakeRedis
        let asks: FakeRedis
        let calls: FakeRedis
        let clock = ManualClock()
        let one = FakeService("one")
        let two = FakeService("two")
        let dispatcher: ServiceDispatcher
        /// Entries that wait in the outbox.
        var outbox = 0

        init() throws {
            parts = try TestParts.made()
            (redis, asks, calls) = (FakeRedis(parts.scripts), FakeRedis(parts.scripts), FakeRedis(parts.scripts))
            (asks.reply, calls.reply) = ({ _ in nil }, { _ in nil })
            dispatcher = ServiceDispatcher(parts, [one, two], link: redis, asks: asks, calls: calls) {
                [clock] in clock.nowMs
            }
            redis.reply = { [weak self] words in
                guard let self else { return .null }
                switch words[0] {
                case "XLEN": return .integer(outbox)
                case "XAUTOCLAIM": return .array([.string(bytes("0-0")), .array([]), .array([])])
                default: return .integer(1)
                }
            }
            work()
        }

        func work() {
            dispatcher.work(nowMs: clock.nowMs)
            for link in [redis, asks, calls] { link.settle() }
        }

        func pass(_ ms: Int) {
            clock.pass(ms)
            work()
        }

        /// A gateway leaves a question, and waits for it for so long.
        func question(_ service: String, id: String = "q1", waits ms: Int = 5_000, _ request: String = "{}") throws {
            let until = parts.clock.wallMs + ms
            let text = ##"{"id":"\##(id)","to":"#node:n1","until":\##(until),"request":\##(request)}"##
            try asks.release(.success(.array([.string(parts.keys.asks(of: service)), .string(bytes(text))])))
            work()
        }

        static func entry(_ id: String, _ request: String = #"{"n":1}"#, _ arguments: String = "{}") -> RESPValue {
            .array([.string(bytes(id)), list("c", "found", "r", request, "a", arguments)])
        }

        /// Calls come for a service.
        func come(_ service: String, _ entries: RESPValue...) throws {
            try calls.release(
                .success(.array([.array([.string(parts.keys.calls(of: service)), .array(entries)])])))
            work()
        }

        var finished: [[String]] { redis.calls("finish").map { Array($0.suffix(3)) } }
        func streams() -> [String] {
            let words = calls.log.last ?? []
            return words.drop { $0 != "STREAMS" }.dropFirst().filter { $0 != ">" }
        }
    }

    private static let away = ServiceFailure(reason: "it is away")

    // MARK: Questions

    @Test func aQuestionGoesToItsServiceAndTheAnswerToItsGateway() throws {
        let world = try World()
        try world.question("two", #"{"q":"blue"}"#)
        #expect(world.one.asked.isEmpty && world.two.asked.map(\.request) == [#"{"q":"blue"}"#])
        #expect(!world.dispatcher.isIdle && world.dispatcher.heldCount == 1)
        try world.two.end(.success(bytes(#"{"a":1}"#)))
        #expect(world.redis.calls("PUBLISH") == [["PUBLISH", "#node:n1", "q1 ok\n{\"a\":1}"]])
        #expect(world.dispatcher.counts.answered == 1 && world.dispatcher.isIdle)
    }

    /// A reply that came too late was dropped, and its calls waited for a minute until somebody took them over.
    @Test func callsWhoseReplyWasLostAreReadAgain() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        #expect(world.one.asked.count == 1)
        try world.calls.release(.failure(RedisFailure(.timedOut)))
        world.work()
        let claim = try #require(world.calls.log.last)
        #expect(claim.suffix(2) == ["0", "0"] && claim.contains("1000") && world.streams().count == 4)
        // One is in hand, one ends while Redis answers, and one was never seen.
        try world.one.end(.success(bytes("{}")))
        world.work()
        try world.come("one", World.entry("1-0"), World.entry("2-0", #"{"n":2}"#))
        #expect(world.one.asked.map(\.request) == [#"{"n":1}"#, #"{"n":2}"#] && world.finished.count == 1)
        #expect(world.calls.log.last?.suffix(2) == [">", ">"])
        // Redis certainly did nothing: nothing is read again.
        try world.calls.release(.failure(RedisFailure(.readOnly)))
        world.work()
        #expect(world.calls.log.last?.suffix(2) == [">", ">"])
    }

    @Test func servicesTakeTurnsAtBeingFirst() throws {
        let world = try World()
        try world.question("one")
        try world.question("one")
        let firsts = world.asks.calls("BLPOP").map { $0[1] }
        #expect(Set(firsts).count == 2 && firsts[0] != firsts[1] && firsts[0] == firsts[2])
        #expect(world.asks.calls("BLPOP").allSatisfy { $0.count == 4 && $0.last == "1" })
    }

    @Test func aFailedQuestionSaysWhenToAskAgain() throws {
        let world = try World()
        for (number, retryAfterMs) in [nil, 1, 61_001, 9_999_999].enumerated() {
            try world.question("one", id: "q\(number)")
            try world.one.end(.failure(ServiceFailure(reason: "away", retryAfterMs: retryAfterMs)))
        }
        let answers = world.redis.calls("PUBLISH").map { $0[2] }
        #expect(answers == ["q0 failed 1\n", "q1 failed 1\n", "q2 failed 62\n", "q3 failed 3600\n"])
        #expect(world.dispatcher.counts.failed == 4 && world.dispatcher.isIdle)
    }

    @Test func nobodyIsAskedForACallerThatWaitsNoMore() throws {
        let world = try World()
        try world.question("one", waits: 0)
        try world.question("nobody")
        try world.asks.release(.success(list("x", "{}")))
        #expect(world.one.asked.isEmpty && world.dispatcher.isIdle)
        world.work()
        try world.question("one", waits: 3_000)
        try world.question("one", waits: 60_000)
        let left = world.one.asked.map { $0.deadlineMs - world.clock.nowMs }
        #expect(left.count == 2 && (2_000...3_000).contains(left[0]) && left[1] == 10_000)
    }

    @Test func soManyQuestionsAreTakenAtOnce() throws {
        let world = try World()
        for number in 0..<64 { try world.question("one", id: "q\(number)") }
        #expect(world.one.openCount == 64 && world.asks.heldCount == 0)
        try world.one.end(.success([]))
        world.work()
        #expect(world.asks.heldCount == 1)
    }

    // MARK: Calls

    @Test func aCallIsAnsweredByItsCommand() throws {
        let world = try World()
        #expect(Set(world.streams()) == Set(["one", "two"].map { text(world.parts.keys.calls(of: $0)) }))
        #expect(world.redis.calls("XGROUP", "CREATE").count == 2)
        try world.come("one", World.entry("1-0", #"{"n":1}"#, #"{"shopId":"7","outcome":"forged"}"#))
        #expect(world.one.asked.map(\.request) == [#"{"n":1}"#])
        try world.one.end(.success(bytes(#"{"a":2}"#)))
        world.work()
        #expect(world.finished == [["1-0", #"{"shopId":"7","outcome":"ok","answer":{"a":2}}"#, ""]])
        #expect(world.dispatcher.counts.called == 1 && world.dispatcher.isIdle)
    }

    @Test func aCallThatFailsIsMadeAgainAfterAPause() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        for pauseMs in [1_000, 2_000, 4_000] {
            try world.one.end(.failure(ServiceDispatcherTests.away))
            #expect(world.dispatcher.nextMs <= world.clock.nowMs + pauseMs)
            world.pass(pauseMs - 1)
            #expect(world.one.openCount == 0)
            world.pass(1)
            #expect(world.one.openCount == 1)
        }
        try world.one.end(.failure(ServiceFailure(reason: "busy", retryAfterMs: 20_000)))
        world.pass(19_999)
        #expect(world.one.openCount == 0 && world.finished.isEmpty)
        world.pass(1)
        try world.one.end(.success(bytes("{}")))
        world.work()
        #expect(world.dispatcher.counts.called == 1 && world.dispatcher.counts.given == 0)
    }

    @Test func aCallIsGivenUpBeforeAnotherCourierWouldTakeIt() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        let end = world.clock.nowMs + 45_000
        while world.finished.isEmpty {
            #expect(try #require(world.one.asked.last).deadlineMs <= end)
            try world.one.end(.failure(ServiceDispatcherTests.away))
            for _ in 0..<40 where world.one.openCount == 0 && world.finished.isEmpty { world.pass(1_000) }
        }
        world.work()
        #expect(world.clock.nowMs < end)
        #expect(world.finished == [["1-0", #"{"outcome":"failed"}"#, "it is away"]])
        #expect(world.dispatcher.counts.given == 1 && world.dispatcher.isIdle)
    }

    @Test func theLastTryEndsBeforeAnotherCourierWouldTakeTheCall() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        let end = world.clock.nowMs + 45_000
        for _ in 0..<2 {
            try world.one.end(.failure(ServiceFailure(reason: "busy", retryAfterMs: 20_000)))
            world.pass(20_000)
        }
        #expect(world.one.asked.map(\.deadlineMs) == [end - 35_000, end - 15_000, end])
    }

    @Test func whatNoRetryCuresIsGivenUpAtOnce() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"), World.entry("2-0", "[]"), list("no call"))
        try world.one.end(.failure(.final("no such thing")))
        world.work()
        #expect(world.one.asked.count == 1, "what is no object is not asked")
        #expect(world.finished.map { $0[0] } == ["2-0", "1-0"])
        #expect(world.finished.map { $0[2] } == ["the request is no object", "no such thing"])
    }

    @Test func aLateAnswerChangesNothing() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        let late = try world.one.end(.success(bytes("{}")))
        world.work()
        late(.success(bytes(#"{"late":true}"#)))
        late(.failure(ServiceDispatcherTests.away))
        world.pass(60_000)
        #expect(world.finished.count == 1 && world.one.asked.count == 1)
    }

    @Test func anEntryInHandIsNotMadeTwice() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        try world.come("one", World.entry("1-0"))
        #expect(world.one.asked.count == 1)
        try world.come("two", World.entry("1-0"))
        #expect(world.two.asked.count == 1, "another service's entry of that id is another call")
    }

    @Test func aServiceThatIsLeftAloneGetsNoNewCalls() throws {
        let world = try World()
        world.one.isOpen = true
        try world.come("two", World.entry("1-0"))
        #expect(world.streams() == [text(world.parts.keys.calls(of: "two"))])
        world.one.isOpen = false
        world.one.heldMax = 1
        try world.come("one", World.entry("2-0"))
        #expect(world.streams() == [text(world.parts.keys.calls(of: "two"))], "it has all it can take")
        try world.one.end(.success(bytes("{}")))
        world.work()
        try world.come("two")
        #expect(world.streams().count == 2)
    }

    @Test func nothingIsClaimedWhileItsAnswerWouldNotFit() throws {
        let world = try World()
        world.outbox = world.parts.limits.outboxFollowUpsMax
        world.pass(1_000)
        try world.come("one")
        #expect(world.calls.heldCount == 0)
        world.outbox = 0
        world.pass(1_000)
        world.work()
        #expect(world.calls.heldCount == 1)
    }

    @Test func aLostGroupIsMadeAgain() throws {
        let world = try World()
        try world.calls.release(.failure(RedisFailure(.other, detail: "NOGROUP no such key")))
        world.work()
        #expect(world.redis.calls("XGROUP", "CREATE").count == 4 && world.calls.heldCount == 1)
    }

    @Test func callsOfACourierThatDiedAreTakenOver() throws {
        let world = try World()
        var left = ["one": [World.entry("7-0")]]
        world.redis.reply = { words in
            guard words[0] == "XAUTOCLAIM" else { return .integer(0) }
            let name = words[1].hasSuffix("one") ? "one" : "two"
            return .array([.string(bytes("0-0")), .array(left.removeValue(forKey: name) ?? []), .array([])])
        }
        world.pass(15_000)
        #expect(world.one.asked.count == 1 && world.two.asked.isEmpty)
        let claim = try #require(world.redis.calls("XAUTOCLAIM").last)
        #expect(claim[2] == "couriers" && claim[4] == "60000", "a minute without an end")
    }

    @Test func aCallWhoseEndFailedIsLeftToTheNextLook() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"))
        world.redis.failure = RedisFailure(.disconnected)
        try world.one.end(.success(bytes("{}")))
        world.work()
        #expect(world.dispatcher.counts.called == 0 && world.dispatcher.isIdle)
    }

    // MARK: Life

    @Test func gatewaysKnowThatACourierLives() throws {
        let world = try World()
        let key = text(world.parts.keys.courier(of: "one"))
        #expect(world.redis.calls("SET", key).count == 1)
        world.pass(2_999)
        #expect(world.redis.calls("SET", key).count == 1)
        world.pass(1)
        #expect(world.redis.calls("SET", key).count == 2)
        #expect(world.redis.calls("SET", key).allSatisfy { $0.suffix(2) == ["EX", "10"] })
    }

    @Test func anEndTakesNothingNewAndFinishesTheRest() throws {
        let world = try World()
        try world.come("one", World.entry("1-0"), World.entry("2-0"))
        world.dispatcher.drain()
        #expect(!world.asks.isReady && !world.calls.isReady)
        try world.one.end(.success(bytes("{}")))
        try world.one.end(.failure(ServiceDispatcherTests.away))
        world.pass(60_000)
        #expect(world.finished.map { $0[0] } == ["1-0"] && world.one.asked.count == 2)
        #expect(world.dispatcher.isIdle, "another courier makes the second one again")
    }
}
