import Configuration
import Core
import RedisLink
import Testing

@testable import Courier
@testable import Push

/// The way of a push to APNs, and the answers that are worth a second try.
@Suite struct PushSenderTests {
    private final class World {
        let parts: CourierParts
        let redis: FakeRedis
        let production = FakeWeb()
        let sandbox = FakeWeb()
        let clock = ManualClock()
        let sender: PushSender
        var verdicts: [APNsVerdict?] = []
        /// The token that couriers share, as Redis has it.
        var shared: String?

        init(url: String? = nil) throws {
            parts = try TestParts.made { $0.apnsURL = url }
            redis = FakeRedis(parts.scripts)
            let apns = try #require(parts.apns)
            sender = PushSender(
                parts, apns, link: redis, webs: [.production: production, .sandbox: sandbox]
            ) { [clock] in clock.nowMs }
            redis.reply = { [weak self] words in
                guard let self else { return .null }
                switch words[0] {
                case "GET": return shared.map { .string(bytes($0)) } ?? .null
                case "SET": shared = words[2]
                case "DEL": shared = nil
                default: break
                }
                return .integer(1)
            }
        }

        /// Stores a token that was made so many seconds ago.
        func share(_ word: String, secondsAgo: Int = 0) {
            shared = "\(parts.clock.wallMs / 1_000 - secondsAgo) \(word)"
        }

        func send(environment: PushDevice.Environment = .production, isUrgent: Bool = false) throws {
            let stored = ##"{"k":"\##(String(repeating: "a", count: 64))","p":"ios","e":"production","r":1000}"##
            let device = try #require(PushDevice(id: bytes("phone"), stored: bytes(stored)))
            let push = PushRun.Push(
                device: device, environment: environment, payload: bytes("{}"), collapseID: bytes("n:5-0"),
                isUrgent: isUrgent, expirationSecond: 77)
            sender.send(push) { self.verdicts.append($0) }
            redis.settle()
        }

        func answer(_ web: FakeWeb, _ status: Int, _ reason: String = "") throws {
            try web.answer(status, reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#)
            redis.settle()
        }

        var pauseMs: Int? { sender.closedUntilMs.map { $0 - parts.clock.wallMs } }
    }

    @Test func aPushSaysAllThatAPNsNeeds() throws {
        let world = try World()
        world.share("tok")
        try world.send(isUrgent: true)
        let request = try world.production.last
        #expect(request.url == "https://api.push.apple.com/3/device/" + String(repeating: "a", count: 64))
        #expect(request.method == .post(bytes("{}")) && request.deadlineMs == world.clock.nowMs + PushSender.tryMs)
        let fields = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(
            fields == [
                "authorization": "bearer tok", "apns-topic": "example.app", "apns-push-type": "alert",
                "apns-priority": "10", "apns-expiration": "77", "apns-collapse-id": "n:5-0",
                "content-type": "application/json",
            ])
        try world.answer(world.production, 200)
        #expect(world.verdicts == [.sent] && world.sandbox.sent.isEmpty)
        try world.send()
        #expect(try world.production.last.field("apns-priority") == "5")
    }

    @Test func aDeviceOfTheOtherEnvironmentIsTriedThereOnce() throws {
        let world = try World()
        world.share("tok")
        try world.send()
        try world.answer(world.production, 400, "BadDeviceToken")
        #expect(world.verdicts.isEmpty)
        #expect(try world.sandbox.last.url.hasPrefix("https://api.sandbox.push.apple.com/3/device/"))
        try world.answer(world.sandbox, 200)
        #expect(world.verdicts == [.sent])
        try world.send(environment: .sandbox)
        try world.answer(world.sandbox, 400, "BadDeviceToken")
        try world.answer(world.production, 400, "BadDeviceToken")
        #expect(world.verdicts.last == .misplaced && world.sandbox.openCount == 0)
    }

    @Test func atOneAddressThereIsNoOtherEnvironment() throws {
        let world = try World(url: "https://apns.example")
        world.share("tok")
        try world.send()
        #expect(try world.production.last.url.hasPrefix("https://apns.example/3/device/"))
        try world.answer(world.production, 400, "BadDeviceToken")
        #expect(world.verdicts == [.misplaced] && world.sandbox.sent.isEmpty)
    }

    @Test func anExpiredTokenIsReplacedOnce() throws {
        let world = try World()
        world.share("old", secondsAgo: ProviderToken.restSeconds)
        try world.send()
        try world.answer(world.production, 403, "ExpiredProviderToken")
        #expect(world.redis.calls("DEL").count == 1 && world.verdicts.isEmpty)
        let second = try world.production.last.field("authorization")
        #expect(second.hasPrefix("bearer ey") && second != "bearer old")
        try world.answer(world.production, 403, "ExpiredProviderToken")
        #expect(world.verdicts == [.expired] && world.production.openCount == 0)
        #expect(try (59_000...60_000).contains(#require(world.pauseMs)))
    }

    @Test func aYoungTokenIsNotReplaced() throws {
        let world = try World()
        world.share("young", secondsAgo: ProviderToken.restSeconds - 10)
        try world.send()
        try world.answer(world.production, 403, "ExpiredProviderToken")
        #expect(world.verdicts == [.expired] && world.redis.calls("DEL").isEmpty)
    }

    @Test func aFaultOfTheKeyPausesAllPushes() throws {
        let world = try World()
        world.share("tok")
        try world.send()
        try world.send()
        #expect(world.sender.closedUntilMs == nil)
        try world.answer(world.production, 403, "InvalidProviderToken")
        let closedUntilMs = try #require(world.sender.closedUntilMs)
        #expect(try (299_000...300_000).contains(#require(world.pauseMs)))
        try world.answer(world.production, 429, "TooManyProviderTokenUpdates")
        #expect(world.sender.closedUntilMs == closedUntilMs, "a pause is not prolonged by what was on its way")
        #expect(world.verdicts.count == 2)
    }

    @Test(arguments: [(410, ""), (404, ""), (503, ""), (429, ""), (400, "BadMessageId")])
    func whatConcernsOnePushPausesNothing(_ status: Int, _ reason: String) throws {
        let world = try World()
        world.share("tok")
        try world.send()
        try world.answer(world.production, status, reason)
        #expect(world.verdicts.count == 1 && world.verdicts.first != .sent && world.sender.closedUntilMs == nil)
        #expect(world.production.sent.count == 1 && world.sandbox.sent.isEmpty)
    }

    @Test func withoutAnAnswerThereIsNoVerdict() throws {
        let world = try World()
        world.share("tok")
        try world.send()
        try world.production.fail(.late)
        #expect(world.verdicts == [nil])
        try world.send()
        world.sender.stop()
        #expect(world.verdicts == [nil, nil])
    }

    @Test func withoutATokenNothingIsSent() throws {
        let world = try World()
        world.redis.failure = RedisFailure(.disconnected)
        try world.send()
        #expect(world.verdicts == [nil] && world.production.sent.isEmpty)
    }
}
