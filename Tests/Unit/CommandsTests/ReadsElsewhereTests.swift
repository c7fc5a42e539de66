import Core
import RedisLink
import Testing

@testable import Commands

/// What a script on a cluster may have read of other masters' topics, and how it is given the answers.
@Suite struct ReadsElsewhereTests {
    private let keys = Keys(prefix: Array("a:".utf8), layout: .tagged)

    private func read(_ words: String...) -> RESPValue { .array(words.map { .string(Array($0.utf8)) }) }

    @Test func onlyLogsAndTimesOfTopicsAreRead() throws {
        var elsewhere = ReadsElsewhere()
        let reads = try elsewhere.begin(
            [
                read("GET", "a:feed:{b1}#latest"), read("XREVRANGE", "a:feed:{b1}#log", "+", "-", "COUNT", "3"),
                read("GET", "a:{sb}#node-secret"), read("GET", "feed:{b1}#latest"), read("GET", "a:feed:{b 1}#latest"),
                read("XRANGE", "a:user:{u}#inbox", "-", "+"), read("GET", "a:feed:b1#latest"),
            ], keys)
        #expect(reads.map { $0.call != nil } == [true, true, false, false, false, false, false])
        #expect(
            reads[1].call
                == RedisCall("XREVRANGE", Array("a:feed:{b1}#log".utf8), [0x2b], [0x2d], Array("COUNT".utf8), [0x33]))
        #expect(reads[2].nothing == .null && reads[5].nothing == .array([]))
        for unsound in [read("DEL", "a:feed:{b1}#log"), read("GET"), .integer(1), .array([.integer(1)])] {
            #expect(throws: ReadsElsewhere.Fault.unsound) { try elsewhere.begin([unsound], keys) }
        }
    }

    @Test func oneCallHasSoManyReadsRoundsAndBytes() throws {
        let one = read("GET", "a:feed:{b1}#latest")
        var many = ReadsElsewhere()
        #expect(throws: ReadsElsewhere.Fault.tooMany) {
            try many.begin(Array(repeating: one, count: ReadsElsewhere.readsMax + 1), keys)
        }
        var often = ReadsElsewhere()
        for _ in 0..<ReadsElsewhere.roundsMax { _ = try often.begin([one], keys) }
        #expect(throws: ReadsElsewhere.Fault.tooMany) { try often.begin([one], keys) }
        var large = ReadsElsewhere()
        let half = RESPValue.string([UInt8](repeating: 1, count: ReadsElsewhere.bytesMax / 2))
        try large.add([1], half)
        #expect(throws: ReadsElsewhere.Fault.tooMany) { try large.add([2], half) }
    }

    @Test func answersAreWrittenAsLuaReadsThem() throws {
        var elsewhere = ReadsElsewhere()
        #expect(elsewhere.argument.isEmpty)
        try elsewhere.add(Array("i".utf8), .array([.string([0xff]), .integer(-2), .null, .error(Array("no".utf8))]))
        let text: [UInt8] =
            [0xdd, 0, 0, 0, 2, 0xdb, 0, 0, 0, 1, 0x69, 0xdd, 0, 0, 0, 4, 0xdb, 0, 0, 0, 1, 0xff]
            + [0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xc2]
            + [0x81, 0xdb, 0, 0, 0, 3, 0x65, 0x72, 0x72, 0xdb, 0, 0, 0, 2, 0x6e, 0x6f]
        #expect(elsewhere.argument == text)
    }

    @Test func anAnswerIsNoQuestion() {
        #expect(ReadsElsewhere.asked(.array([.string([]), .integer(2), .array([])])) == [])
        #expect(ReadsElsewhere.asked(.array([.string([]), .integer(0), .integer(0)])) == nil)
        #expect(ReadsElsewhere.asked(.integer(2)) == nil)
    }
}
