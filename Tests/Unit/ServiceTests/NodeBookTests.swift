import Configuration
import Core
import RedisLink
import Service
import Testing

/// Log lines about clocks and versions.
struct NodeBookTests {
    private var book = NodeBook(NodeEntry(.gateway, name: [1]), boundMs: 5_000)

    private func other(_ offsetMs: Int? = 0, version: String = ProductVersion.text) -> NodeEntry {
        var entry = NodeEntry(.worker, name: [2])
        (entry.offsetMs, entry.version) = (offsetMs, version)
        return entry
    }

    @Test mutating func aClockIsLoggedWhenItChanges() {
        #expect(book.learned([other()], offsetMs: 3, nowMs: 1).isEmpty)
        let wrong = book.learned([other()], offsetMs: 3_600_000, nowMs: 1)
        #expect(wrong.map(\.text) == ["the clock of this process is wrong"] && wrong[0].level == .warn)
        #expect(book.isAlone && book.verdict?.mend != nil)
        #expect(book.learned([other()], offsetMs: 3_600_001, nowMs: 1).isEmpty, "no news")
        #expect(book.learned([], offsetMs: 3_600_001, nowMs: 1).count == 1)
        #expect(!book.isAlone && book.verdict == .undecided)
        let right = book.learned([other()], offsetMs: 0, nowMs: 1)
        #expect(right.map(\.text) == ["the clock agrees with redis again"] && book.verdict == .right)
    }

    @Test mutating func aMixOfVersionsIsLoggedWhenItBeginsAndEnds() {
        #expect(book.learned([other()], offsetMs: 0, nowMs: 1).isEmpty)
        let mixed = book.learned([other(), other(version: "9.9.9")], offsetMs: 0, nowMs: 1)
        #expect(mixed.map(\.text) == ["processes of several versions share this redis"])
        #expect(mixed[0].fields.contains { $0.0 == "versions" && $0.1.contains("9.9.9") })
        #expect(book.groups.map(\.count) == [1, 1, 1])
        #expect(book.learned([other(version: "9.9.9")], offsetMs: 0, nowMs: 1).isEmpty)
        #expect(book.learned([other()], offsetMs: 0, nowMs: 1).map(\.level) == [.info])
    }

    @Test mutating func gatewaysThatHaveGoneAreKnownForAnHour() {
        let hourMs = 3_600_000
        func gateway(_ name: UInt8) -> NodeEntry { NodeEntry(.gateway, name: [name]) }
        _ = book.learned([gateway(2), gateway(3), other()], offsetMs: 0, nowMs: 1_000)
        #expect(book.departed.isEmpty)
        _ = book.learned([], offsetMs: 0, nowMs: 2_000)
        #expect(book.departed.map(\.name) == [[2], [3]] && book.departed.allSatisfy { $0.seenMs == 1_000 })
        // A probe was missed.
        _ = book.learned([gateway(3)], offsetMs: 0, nowMs: 3_000)
        #expect(book.departed.map(\.name) == [[2]])
        _ = book.learned([gateway(3)], offsetMs: 0, nowMs: 1_000 + hourMs)
        #expect(book.departed.isEmpty)
        _ = book.learned((4...255).map { gateway($0) }, offsetMs: 0, nowMs: 2_000 + hourMs)
        _ = book.learned([], offsetMs: 0, nowMs: 3_000 + hourMs)
        #expect(book.departed.count == 64 && book.departed.last?.name == [255])
    }
}
