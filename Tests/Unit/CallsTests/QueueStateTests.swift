import Core
import RedisLink
import Testing

@testable import Calls

/// The state of a stream is read from a reply that may be anything.
@Suite struct QueueStateTests {
    private static func text(_ words: [RESPValue]) -> String? {
        QueueState(words).map { state in
            var text = [UInt8(ascii: "{")]
            state.appendLastError(to: &text)
            return String(decoding: text, as: UTF8.self)
        }
    }

    @Test func theLastErrorHasTimeAndReason() {
        let words: [RESPValue] = [.integer(2), .integer(10), .integer(1_000), .string(Array("no \"route\"".utf8))]
        #expect(
            Self.text(words) == "{\"lastError\":{\"at\":\"1970-01-01T00:00:01.000Z\",\"reason\":\"no \\\"route\\\"\"}")
        #expect(Self.text([.integer(0), .integer(0), .integer(0), .string([])]) == "{\"lastError\":null")
        #expect(Self.text([.integer(1), .integer(0), .integer(Int.max), .string([])]) == "{\"lastError\":null")
    }

    @Test func otherRepliesAreRefused() {
        for words: [RESPValue] in [
            [], [.integer(1)], [.integer(-1), .integer(0), .integer(0), .string([])],
            [.integer(1), .integer(0), .integer(0), .integer(0)], [.string([]), .integer(0), .integer(0), .string([])],
        ] {
            #expect(QueueState(words) == nil)
        }
    }
}
