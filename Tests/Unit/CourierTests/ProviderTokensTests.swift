import Core
import Reactors
import RedisLink
import Testing

@testable import Courier
@testable import Push

/// The one token that all couriers share: Apple refuses a team that makes many.
@Suite struct ProviderTokensTests {
    private final class World {
        let parts: CourierParts
        let redis: FakeRedis
        let tokens: ProviderTokens
        var found: [ProviderToken?] = []
        var shared: String?
        /// The token that another courier stores at the same moment.
        var faster: String?

        init() throws {
            parts = try TestParts.made()
            redis = FakeRedis(parts.scripts)
            tokens = ProviderTokens(try #require(parts.apns), redis, parts.keys, parts.clock)
            redis.reply = { [weak self] words in
                guard let self else { return .null }
                switch words[0] {
                case "GET": return shared.map { .string(bytes($0)) } ?? .null
                case "SET":
                    if shared != nil || faster != nil {
                        shared = shared ?? faster
                        return .null
                    }
                    shared = words[2]
                    return .status(bytes("OK"))
                case "DEL": shared = nil
                default: break
                }
                return .integer(1)
            }
        }

        var second: Int { parts.clock.wallMs / 1_000 }

        func ask() {
            tokens.token { self.found.append($0) }
            redis.settle()
        }
    }

    @Test func theSharedTokenIsUsedAndRemembered() throws {
        let world = try World()
        world.shared = "\(world.second - 10) abc"
        world.ask()
        world.ask()
        #expect(world.found.map { $0.map { text($0.text) } } == ["abc", "abc"])
        #expect(world.redis.log == [["GET", text(world.parts.keys.providerToken(of: TestParts.keyID))]])
    }

    @Test func withoutOneATokenIsMadeForAll() throws {
        let world = try World()
        world.ask()
        let made = try #require(world.found.first ?? nil)
        #expect(text(made.text).split(separator: ".").count == 3 && abs(made.madeSecond - world.second) <= 1)
        let set = try #require(world.redis.calls("SET").first)
        #expect(set[2] == text(made.shared) && set.suffix(3) == ["EX", "3000", "NX"])
    }

    @Test func ofTwoCouriersTheFasterOnesTokenCounts() throws {
        let world = try World()
        world.faster = "\(world.second) theirs"
        world.ask()
        #expect(world.found.map { $0.map { text($0.text) } } == ["theirs"])
    }

    @Test func allThatWaitShareOneRead() throws {
        let world = try World()
        world.shared = "\(world.second) abc"
        for _ in 0..<3 { world.tokens.token { world.found.append($0) } }
        world.redis.settle()
        #expect(world.found.count == 3 && world.redis.log.count == 1)
    }

    @Test(arguments: ["nonsense", "5 with space", "99999999999 ahead", "5 old"])
    func anUnusableTokenIsReplaced(_ stored: String) throws {
        let world = try World()
        world.shared = stored
        world.ask()
        let made = try #require(world.found.first ?? nil)
        #expect(world.redis.calls("DEL").count == 1 && world.shared == text(made.shared))
    }

    @Test func anOldTokenIsReadAnew() throws {
        let world = try World()
        world.shared = "\(world.second - ProviderToken.lifeSeconds + 2) abc"
        world.ask()
        #expect(world.redis.log.count == 1)
        let token = try #require(world.found.first ?? nil)
        #expect(!token.isGood(at: world.second + 2))
        world.parts.clock.follow(baseMs: world.parts.clock.wallMs + 3_000 - Clock.monotonicMs())
        world.shared = "\(world.second) next"
        world.ask()
        #expect(world.found.last??.text == bytes("next"))
    }

    @Test func aRefusedTokenIsDroppedUnlessItIsYoung() throws {
        let world = try World()
        world.shared = "\(world.second - ProviderToken.restSeconds + 10) young"
        world.ask()
        let young = try #require(world.found.last ?? nil)
        #expect(!world.tokens.replace(young) && world.redis.calls("DEL").isEmpty)
        let other = try World()
        other.shared = "\(other.second - ProviderToken.restSeconds) old"
        other.ask()
        let old = try #require(other.found.last ?? nil)
        #expect(other.tokens.replace(old) && other.redis.calls("DEL").count == 1)
        #expect(!other.tokens.replace(old), "there is none now")
        other.redis.settle()
        other.ask()
        #expect(other.tokens.replace(old), "another one has taken its place")
        #expect(other.redis.calls("DEL").count == 1)
    }

    @Test func withoutRedisThereIsNone() throws {
        let world = try World()
        world.redis.failure = RedisFailure(.disconnected)
        world.ask()
        #expect(world.found == [nil])
        world.redis.failure = nil
        world.ask()
        #expect(world.found.count == 2 && world.found.last != .some(nil))
    }
}
