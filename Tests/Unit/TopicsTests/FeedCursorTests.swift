import Core
import Testing

@testable import Topics

@Suite struct FeedCursorTests {
    static func position(_ text: String) throws -> Position {
        let parts = text.split(separator: ":")
        let offset = try #require(Int(parts[1]))
        return try #require(Position(epoch: Array(parts[0].utf8), offset: offset))
    }

    /// A cursor in a state: none, at b:5 after a:9, or at b:5 under repair.
    static func cursor(_ state: String) throws -> FeedCursor {
        var cursor = FeedCursor()
        guard state != "empty" else { return cursor }
        let (first, start, last) = (try position("a:9"), try position("b:0"), try position("b:5"))
        #expect(cursor.joined(at: first) == .adopted)
        #expect(cursor.joined(at: start) == .reset(start))
        cursor.repaired(to: last)
        if state == "repairing" { #expect(cursor.doubted() == last) }
        return cursor
    }

    /// State, event, what to do, and the position after it.
    @Test(arguments: [
        ("empty", "b:1", "ignore", ""), ("live", "b:4", "ignore", "b:5"), ("live", "b:5", "ignore", "b:5"),
        ("live", "b:6", "deliver", "b:6"), ("live", "b:7", "repair", "b:5"), ("live", "a:10", "ignore", "b:5"),
        ("live", "c:1", "repair", "b:5"), ("live", "c:9", "repair", "b:5"), ("repairing", "b:4", "hold", "b:5"),
        ("repairing", "b:6", "hold", "b:5"), ("repairing", "c:1", "hold", "b:5"), ("repairing", "a:1", "hold", "b:5"),
    ])
    func anEventIsJudgedByState(_ state: String, _ event: String, _ verdict: String, _ after: String) throws {
        var cursor = try FeedCursorTests.cursor(state)
        let result = cursor.received(try FeedCursorTests.position(event))
        let expected: FeedCursor.Verdict =
            switch verdict {
            case "deliver": .deliver
            case "hold": .hold
            case "repair": .repair(after: try FeedCursorTests.position("b:5"))
            default: .ignore
            }
        #expect(result == expected)
        let stand = after.isEmpty ? nil : try FeedCursorTests.position(after)
        #expect(cursor.position == stand)
        #expect(cursor.isRepairing == (state == "repairing" || verdict == "repair"))
    }

    /// State, answer to a joining client, what it means, and the position after it.
    @Test(arguments: [
        ("empty", "b:3", "adopted", "b:3"), ("live", "b:5", "same", "b:5"), ("live", "b:9", "same", "b:5"),
        ("live", "b:1", "same", "b:5"), ("live", "a:9", "stale", "b:5"), ("live", "c:2", "reset", "c:0"),
        ("repairing", "b:9", "same", "b:5"), ("repairing", "a:1", "stale", "b:5"), ("repairing", "c:2", "reset", "c:0"),
    ])
    func anAnswerIsJudgedByState(_ state: String, _ answer: String, _ meaning: String, _ after: String) throws {
        var cursor = try FeedCursorTests.cursor(state)
        let expected: FeedCursor.JoinMeaning =
            switch meaning {
            case "adopted": .adopted
            case "same": .same
            case "reset": .reset(try FeedCursorTests.position("c:0"))
            default: .stale
            }
        let result = cursor.joined(at: try FeedCursorTests.position(answer))
        #expect(result == expected)
        let stand = try FeedCursorTests.position(after)
        #expect(cursor.position == stand)
        #expect(cursor.isRepairing == (state == "repairing" || meaning == "reset"))
    }

    @Test(arguments: ["empty", "live", "repairing"])
    func theOtherInputsInEveryState(_ state: String) throws {
        let before = try FeedCursorTests.cursor(state)
        let (eight, nine) = (try FeedCursorTests.position("b:8"), try FeedCursorTests.position("b:9"))
        let start = try FeedCursorTests.position("c:0")
        var doubted = before
        #expect(doubted.doubted() == before.position)
        #expect(doubted.isRepairing == (state != "empty"))
        var repaired = before
        repaired.repaired(to: eight)
        #expect(repaired.position == eight)
        #expect(!repaired.isRepairing)
        #expect(repaired.received(nine) == .deliver)
        var reset = before
        #expect(reset.reset(to: start.epoch) == start)
        #expect(reset.isRepairing)
        #expect(reset.reset(to: Array("not an epoch".utf8)) == nil)
        var forgotten = before
        forgotten.forget()
        #expect(forgotten == FeedCursor())
    }

    /// A new epoch that began and ended during a read must not make the living one look over.
    @Test func anEpochThatTheLogDoesNotKnowIsNotBelieved() throws {
        let (over, two) = (try FeedCursorTests.position("c:1"), try FeedCursorTests.position("d:2"))
        let three = try FeedCursorTests.position("d:3")
        var cursor = try FeedCursorTests.cursor("live")
        #expect(cursor.reset(to: two.epoch) != nil)
        cursor.repaired(to: two)
        #expect(cursor.received(over) == .repair(after: two))
        cursor.repaired(to: two)
        #expect(cursor.received(three) == .deliver)
    }

    /// Joins used to be asked for again at every round trip, for ever, when the log went back to a former epoch.
    @Test func aFormerEpochThatIsToldTwiceIsTheLogsEpoch() throws {
        let former = try FeedCursorTests.position("a:9")
        var cursor = try FeedCursorTests.cursor("live")
        #expect(cursor.joined(at: former) == .stale)
        #expect(cursor.joined(at: former) == .reset(try FeedCursorTests.position("a:0")))
    }

    @Test(arguments: [("a:5", false), ("a:6", true), ("a:9", true), ("b:6", false), ("", true)])
    func aHeldEventFollowsAnAnswer(_ event: String, _ follows: Bool) throws {
        let position = event.isEmpty ? nil : try FeedCursorTests.position(event)
        let answer = try FeedCursorTests.position("a:5")
        #expect(JoinMerge.follows(position, answer) == follows)
    }
}
