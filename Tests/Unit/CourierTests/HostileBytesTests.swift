import Configuration
import Core
import RedisLink
import Testing

@testable import Courier

/// Numbers and texts that no service and no script writes: none of them may end the courier.
@Suite struct HostileBytesTests {
    private func json(_ text: String) throws -> JSON.Value {
        try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 16, elementsMax: 100)).root
    }

    @Test(arguments: ["-9223372036854775807", "9223372036854775807", "-1", "0.5"])
    func aPictureOfWhateverWidthIsOne(width: String) throws {
        let image = #"{"url":"https://i.example/1","width":\#(width)}"#
        let track = try #require(SpotifyTrack(json(#"{"id":"t","name":"n","album":{"images":[\#(image)]}}"#)))
        #expect(String(decoding: track.appText, as: UTF8.self).contains(#""image_url":"https://i.example/1""#))
    }

    /// Flags are pairs of one kind of letter, so finding the last one of many means to look at all of them.
    @Test(.timeLimit(.minutes(1)), arguments: ["\u{1F1E9}", "e\u{301}", "a"])
    func aLongTextIsCutWithoutLookingAtAllOfIt(character: String) throws {
        let name = String(repeating: character, count: 100_000)
        let track = try #require(SpotifyTrack(json(#"{"id":"t","name":"\#(name)"}"#)))
        #expect((597...600).contains(track.name.utf8.count) && name.utf8.starts(with: track.name.utf8))
    }

    @Test(arguments: ["-9223372036854775807", "-1", "9223372036854775807"])
    func aQuestionIsWaitedForUntilAMoment(until: String) throws {
        let keys = Keys(prefix: [])
        func question(_ until: String) -> ServiceQuestion? {
            let text = ##"{"id":"q","to":"#node:n","until":\##(until),"request":{}}"##
            return ServiceQuestion(Array(text.utf8), keys)
        }
        #expect(question("1795205000000") != nil && question(until) == nil)
    }

    @Test(arguments: [
        (Int.max, Int.max, "9"), (nil, Int.max, nil), (7, 8, "9223372036854775807"), (Int.max - 1, 9, nil),
    ])
    func aPageWithOffsetsThatNoScriptGivesIsNone(done: Int?, last: Int, entry: String?) throws {
        let topic = try #require(Topic("order:1"))
        let patterns = WebhookPatterns(
            WebhookSettings(name: "h", url: "https://x", secretFile: "", topics: ["order:*"]))
        func work(_ done: Int?, _ last: Int, _ entries: [String]) -> WebhookWork? {
            WebhookWork(
                topic, epoch: Array("e".utf8), done: done, last: last,
                entries: entries.map { .array([.string(Array(($0 + "-0").utf8)), .array([])]) }, patterns: patterns,
                sinceMs: 0)
        }
        #expect(work(7, 8, ["8"])?.lastOffset == 8)
        #expect(work(done, last, entry.map { [$0] } ?? []) == nil)
    }
}
