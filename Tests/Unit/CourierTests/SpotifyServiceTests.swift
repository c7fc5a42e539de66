import Core
import Testing

@testable import Configuration
@testable import Courier

/// Requests to Spotify's catalogue, and the reading of its answers, which are written for these tests.
@Suite struct SpotifyServiceTests {
    private final class World {
        let web = FakeWeb()
        let clock = ManualClock()
        let service: SpotifyService
        var results: [Result<String, ServiceFailure>] = []

        init(hasTokens: Bool = true) throws {
            var settings = ServiceSettings(name: "spotify", url: "https://api.example")
            settings.tokenURL = hasTokens ? "https://accounts.example/token" : nil
            settings.clientID = "client"
            service = SpotifyService(settings, secret: bytes("secret"), engine: web) { [clock] in clock.nowMs }
        }

        func ask(_ request: String, deadlineMs: Int = 2_000_000) throws {
            let root = try JSON(parsing: bytes(request), limits: JSON.Limits(depthMax: 8, elementsMax: 100)).root
            service.ask(root, deadlineMs: deadlineMs) { self.results.append($0.map { text($0) }) }
        }

        func token(_ word: String = "t1", seconds: Int = 3_600) throws {
            try web.answer(200, #"{"access_token":"\#(word)","token_type":"Bearer","expires_in":\#(seconds)}"#)
        }

        var reason: String? { if case .failure(let failure) = results.last { failure.reason } else { nil } }
        var answer: String? { if case .success(let text) = results.last { text } else { nil } }
    }

    private static func track(_ id: String) -> String {
        ##"{"id":"\##(id)","name":"Song \##(id)","artists":[{"name":"A"}],"duration_ms":1000,"album":{"name":"B","images":[]}}"##
    }

    private static func page(_ ids: some Sequence<Int>) -> String {
        #"{"tracks":{"items":["# + ids.map { track("n\($0)") }.joined(separator: ",") + "]}}"
    }

    @Test func aTokenComesFirstAndServesAll() throws {
        let world = try World()
        try world.ask(#"{"track":"abc"}"#)
        try world.ask(#"{"track":"def"}"#)
        #expect(world.web.sent.map(\.url) == ["https://accounts.example/token"], "one token for both")
        #expect(try world.web.last.bodyText == "grant_type=client_credentials")
        #expect(try world.web.last.field("authorization") == "Basic Y2xpZW50OnNlY3JldA==")
        try world.token()
        #expect(
            world.web.sent.dropFirst().map(\.url)
                == ["abc", "def"].map { "https://api.example/v1/tracks/\($0)?market=US" })
        #expect(world.web.sent.dropFirst().allSatisfy { $0.field("authorization") == "Bearer t1" })
        try world.web.answer(200, SpotifyServiceTests.track("abc"))
        #expect(world.answer?.hasPrefix(##"{"id":"abc","name":"Song abc","artists":[{"name":"A"}]"##) == true)
        #expect(world.service.requests == 2 && world.service.failures == 0)
    }

    @Test func aTokenIsRenewedBesideTheRequests() throws {
        let world = try World()
        try world.ask(#"{"track":"a"}"#)
        try world.token(seconds: 600)
        try world.web.answer(200, SpotifyServiceTests.track("a"))
        world.clock.pass(500_000)
        try world.ask(#"{"track":"b"}"#)
        #expect(
            world.web.sent.suffix(2).map(\.url) == [
                "https://accounts.example/token", "https://api.example/v1/tracks/b?market=US",
            ])
        #expect(try world.web.last.field("authorization") == "Bearer t1", "the old one is good enough")
        try world.token("t2")
        try world.web.answer(200, SpotifyServiceTests.track("b"))
        try world.ask(#"{"track":"c"}"#)
        #expect(try world.web.last.field("authorization") == "Bearer t2")
    }

    @Test func aServiceWithoutTokensIsAskedAtOnce() throws {
        let world = try World(hasTokens: false)
        try world.ask(#"{"track":"a"}"#)
        #expect(try world.web.last.url.hasPrefix("https://api.example/v1/tracks/a"))
        #expect(try world.web.last.headers.isEmpty)
    }

    @Test func aSearchGoesOnUntilItHasEnough() throws {
        let world = try World(hasTokens: false)
        try world.ask(##"{"q":"Blue  SKY&","limit":15}"##, deadlineMs: 1_234_567)
        #expect(
            try world.web.last.url
                == "https://api.example/v1/search?q=blue%20sky%26&type=track&limit=10&offset=0&market=US")
        try world.web.answer(200, SpotifyServiceTests.page(0..<10))
        #expect(try world.web.last.url.contains("&offset=10&"))
        #expect(world.web.sent.allSatisfy { $0.deadlineMs == 1_234_567 }, "the whole search has one deadline")
        try world.web.answer(200, SpotifyServiceTests.page(10..<20))
        let answer = try #require(world.answer)
        #expect(
            answer.hasPrefix(#"{"tracks":[{"id":"n0""#) && answer.contains(#""n14""#) && !answer.contains(#""n15""#))
    }

    @Test func aShortPageIsTheLast() throws {
        let world = try World(hasTokens: false)
        try world.ask(#"{"q":"x","limit":50}"#)
        try world.web.answer(200, SpotifyServiceTests.page(0..<3))
        #expect(world.web.sent.count == 1 && world.answer?.contains(#""n2""#) == true)
    }

    @Test func whatIsKnownIsNotAskedAgainForAWhile() throws {
        let world = try World(hasTokens: false)
        try world.ask(#"{"q":"Blue","limit":1}"#)
        try world.web.answer(200, SpotifyServiceTests.page(0..<3))
        try world.ask(#"{"q":" blue ","limit":2}"#)
        #expect(world.web.sent.count == 1 && world.results.count == 2 && world.answer?.contains(#""n1""#) == true)
        world.clock.pass(60_000)
        try world.ask(#"{"q":"blue","limit":1}"#)
        #expect(world.web.sent.count == 2)
        try world.ask(#"{"track":"a"}"#)
        try world.web.answer(200, SpotifyServiceTests.page(0..<3))
        try world.web.answer(200, SpotifyServiceTests.track("a"))
        world.clock.pass(3_599_999)
        try world.ask(#"{"track":"a"}"#)
        #expect(world.web.openCount == 0)
        world.clock.pass(1)
        try world.ask(#"{"track":"a"}"#)
        #expect(world.web.openCount == 1)
    }

    @Test(arguments: [
        (#"{"track":""}"#, "no track has such an id"), (#"{"track":"a/b"}"#, "no track has such an id"),
        (#"{"q":""}"#, "the request names neither words nor a track"),
        (#"{"q":5}"#, "the request names neither words nor a track"),
        ("{}", "the request names neither words nor a track"),
    ])
    func aWrongRequestIsNotMade(_ request: String, _ reason: String) throws {
        let world = try World()
        try world.ask(request)
        #expect(world.web.sent.isEmpty && world.results == [.failure(.final(reason))])
    }

    @Test func aRefusedTokenIsReplacedOnce() throws {
        let world = try World()
        try world.ask(#"{"track":"a"}"#)
        try world.token()
        try world.web.answer(401)
        #expect(try world.web.last.url == "https://accounts.example/token")
        try world.token("t2")
        #expect(try world.web.last.field("authorization") == "Bearer t2")
        try world.web.answer(401)
        #expect(world.web.openCount == 0 && world.reason == "spotify answers 401")
    }

    @Test func tooManyQuestionsMakeAPause() throws {
        let world = try World(hasTokens: false)
        try world.ask(#"{"track":"a"}"#)
        try world.web.answer(429, headers: [("retry-after", "7")])
        #expect(world.results == [.failure(ServiceFailure(reason: "spotify is asked too often", retryAfterMs: 7_000))])
        #expect(world.service.isOpen)
        try world.ask(#"{"track":"b"}"#)
        #expect(world.web.sent.count == 1)
        #expect(
            world.results.last
                == .failure(ServiceFailure(reason: "spotify is left alone for a while", retryAfterMs: 7_000)))
        world.clock.pass(7_000)
        #expect(!world.service.isOpen)
        try world.ask(#"{"track":"b"}"#)
        #expect(world.web.sent.count == 2)
    }

    @Test func aFaultOfOneRequestIsNoFaultOfTheService() throws {
        let world = try World(hasTokens: false)
        for number in 0..<9 {
            try world.ask(#"{"track":"a\#(number)"}"#)
            try world.web.answer(404)
        }
        #expect(world.results.allSatisfy { $0 == .failure(.final("spotify answers 404")) })
        #expect(!world.service.isOpen && world.service.failures == 9)
    }

    @Test func aServiceThatFailsIsLeftAloneAndTriedByOne() throws {
        let world = try World(hasTokens: false)
        for number in 0..<5 {
            try world.ask(#"{"track":"a\#(number)"}"#)
            if number == 0 { try world.web.fail(.late) } else { try world.web.answer(503) }
        }
        #expect(world.results.first == .failure(ServiceFailure(reason: "spotify could not be reached: late")))
        #expect(world.service.isOpen)
        world.clock.pass(2_000)
        try world.ask(#"{"track":"b"}"#)
        try world.ask(#"{"track":"c"}"#)
        #expect(world.web.openCount == 1 && world.reason == "spotify is left alone for a while")
        try world.web.answer(200, SpotifyServiceTests.track("b"))
        try world.ask(#"{"track":"c"}"#)
        #expect(world.web.openCount == 1)
    }

    @Test func aFailedTokenFailsAllThatWaitForIt() throws {
        let world = try World()
        try world.ask(#"{"track":"a"}"#)
        try world.ask(#"{"track":"b"}"#)
        try world.web.answer(400)
        let failure = ServiceFailure(reason: "the service of tokens answers 400")
        #expect(world.results == [.failure(failure), .failure(failure)])
        try world.ask(#"{"track":"c"}"#)
        try world.web.answer(200, #"{"access_token":"with a space"}"#)
        #expect(world.reason == "the service of tokens answers 200")
        try world.ask(#"{"track":"d"}"#)
        try world.web.fail(.unreachable)
        #expect(world.reason == "the service of tokens cannot be reached" && world.service.failures == 3)
    }

    @Test(arguments: ["", "{}", "[]", #"{"tracks":{}}"#, #"{"tracks":{"items":5}}"#, "no JSON"])
    func anAnswerThatCannotBeReadFails(_ body: String) throws {
        let world = try World(hasTokens: false)
        try world.ask(#"{"track":"a"}"#)
        try world.web.answer(200, body)
        #expect(world.reason == "the answer cannot be read")
        try world.ask(#"{"track":"a"}"#)
        #expect(world.web.openCount == 1, "and is not kept")
    }
}
