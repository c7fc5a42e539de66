import Core
import Testing

@testable import RedisLink

/// The mark of data in Redis: layout, move, format.
@Suite struct LayoutMarkTests {
    @Test(arguments: [
        ("plain", LayoutMark(.plain, format: 1)), ("tagged", LayoutMark(.tagged, format: 1)),
        ("moving:tagged", LayoutMark(.tagged, format: 1, isMoving: true)), ("plain 2", LayoutMark(.plain, format: 2)),
        ("moving:plain 30", LayoutMark(.plain, format: 30, isMoving: true)),
    ])
    func aMarkIsReadAsItIsWritten(text: String, mark: LayoutMark) {
        #expect(LayoutMark(Array(text.utf8)) == mark && mark.text == Array(text.utf8))
    }

    @Test(arguments: [
        "", " ", "moving:", "other", "plain ", "plain 1", "plain 0", "plain -2", "plain 2 3", "plain x",
        "plain 99999999999999999999", "Plain", "moving:moving:plain",
    ])
    func anyOtherTextIsNoMark(text: String) {
        #expect(LayoutMark(Array(text.utf8)) == nil)
    }

    @Test func dataOfAnotherFormatAreRefusedThoughNobodyWorksOnThem() throws {
        func verdict(_ mark: String, format: Int) -> LayoutGuard.Verdict {
            LayoutGuard(Keys(prefix: []), format: format).verdict([
                .array([.string(Array("1000".utf8)), .string(Array("0".utf8))]), .array([]),
                .string(Array(mark.utf8)), .integer(0), .integer(0),
            ])
        }
        #expect(verdict("plain", format: 1) == .fits && verdict("plain 2", format: 2) == .fits)
        for (mark, format, words) in [
            ("plain 2", 1, "run a later version"), ("plain", 2, "run an earlier version"),
            ("moving:plain 3", 2, "run a later version"),
        ] {
            guard case .refused(let failure) = verdict(mark, format: format) else {
                Issue.record("\(mark) was not refused")
                continue
            }
            #expect(failure.kind == .otherFormat && failure.detail.contains("with format \(format)"))
            #expect(failure.detail.contains(words), "\(failure.detail)")
        }
    }

    @Test func aNewRedisIsMarkedWithTheFormat() {
        let keys = Keys(prefix: [])
        for (format, text) in [(1, "plain"), (2, "plain 2")] {
            let expected = RedisCall("SET", keys.layoutMark, Array(text.utf8), Array("NX".utf8))
            #expect(LayoutGuard(keys, format: format).mark == expected)
        }
    }
}
