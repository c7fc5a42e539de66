import Testing

@testable import Core

/// Expected slots are those that `CLUSTER KEYSLOT` of a real server tells.
@Suite struct HashSlotTests {
    @Test(arguments: [
        ("42", 8_000), ("123456789", 12_739), ("shop:{42}#log", 8_000), ("queue:{42}", 8_000), ("{sb}#workers", 4_590),
        ("pre:{42}{sb}", 8_000),
    ]) func slots(_ name: String, _ slot: Int) {
        #expect(HashSlot.of(Array(name.utf8)) == slot)
    }

    @Test(arguments: ["shop:{}#log", "shop:{42", "shop:}42{"])
    func withoutATagTheWholeNameCounts(_ name: String) {
        let other = name.replacing("{", with: "(")
        #expect(HashSlot.of(Array(name.utf8)) != HashSlot.of(Array(other.utf8)))
        #expect(HashSlot.of(Array(name.utf8)) != HashSlot.of(Array("42".utf8)))
    }

    @Test func theFirstTagCounts() {
        #expect(HashSlot.of(Array("a{{42}}".utf8)) == HashSlot.of(Array("{42".utf8)[...].dropFirst(0).map { $0 }))
        #expect(HashSlot.of(Array("a{4}2}".utf8)) == HashSlot.of([UInt8(ascii: "4")]))
    }

    @Test func everySlotHasATag() {
        #expect((0..<HashSlot.count).allSatisfy { HashSlot.of(HashSlot.tag(of: $0)) == $0 })
        #expect(HashSlot.tag(of: HashSlot.count + 5) == HashSlot.tag(of: 5))
    }
}
