import Core
import Testing

@testable import RedisLink

/// Entries that processes write about themselves in Redis.
struct NodeEntryTests {
    private func entry(_ text: String) -> NodeEntry? { NodeEntry(name: bytes("n1"), bytes(text)) }

    @Test(arguments: ["gateway 0.1.0 1 -", "worker 1.2.3-rc.1+b 7 -3600000", "courier 0 1 86400000"])
    func whatIsWrittenIsRead(_ text: String) {
        #expect(entry(text)?.text == bytes(text))
    }

    @Test(arguments: [
        "", "gateway", "gateway 0.1.0 1", "shop 0.1.0 1 0", "gateway 0.1\n 1 0", "gateway \" 1 0", "gateway 0.1.0 x 0",
        "gateway 0.1.0 1 0 0", "gateway 123456789012345678901234567890123 1 0", "gateway 0.1.0 9999999999 0",
    ])
    func whatNobodyOfOursWroteIsLeftOut(_ text: String) {
        #expect(entry(text) == nil)
    }

    @Test func anOffsetThatIsNoNumberIsNotKnown() {
        for word in ["x", "--1", "9999999999999999999", "-"] {
            #expect(entry("gateway 0.1.0 1 \(word)")?.offsetMs == nil)
        }
    }

    @Test func theAnswerBringsTheTimeAndTheOthers() throws {
        let reply = RESPValue.array([
            .string(bytes("1700000000000")),
            .array([.string(bytes("a")), .string(bytes("worker 0.1.0 1 5")), .string(bytes("b")), .string(bytes("?"))]),
        ])
        let answer = try #require(NodeCall.Answer(reply))
        #expect(answer.timeMs == 1_700_000_000_000 && answer.others.map(\.name) == [bytes("a")])
        #expect(NodeCall.Answer(.array([.integer(1), .array([])])) == nil)
        #expect(NodeCall.Answer(.null) == nil)
    }

    @Test func theCallGoesToTheMasterOfItsKey() {
        let keys = Keys(prefix: [], layout: .tagged)
        let call = NodeCall.call(keys, NodeEntry(.worker, name: bytes("w")), keepMs: 5)
        #expect(call.key == keys.nodes)
    }

    /// Both versions are in the message, since the operator must see which process to end.
    @Test func aProcessOfAnotherFormatIsRefusedWithBothVersions() throws {
        let layout = LayoutGuard(Keys(prefix: []))
        func verdict(_ entry: String, ends: Int) -> LayoutGuard.Verdict {
            layout.verdict([
                .array([.string(bytes("1000")), .string(bytes("0"))]),
                .array([.string(bytes("n")), .string(bytes("\(ends) \(entry)"))]), .string(bytes("plain")),
                .integer(0), .integer(0),
            ])
        }
        guard case .refused(let failure) = verdict("gateway 9.9.9 2 0", ends: 1_000_001) else {
            Issue.record("not refused")
            return
        }
        #expect(failure.kind == .otherFormat)
        #expect(failure.detail.contains("9.9.9") && failure.detail.contains(ProductVersion.text))
        #expect(verdict("gateway 9.9.9 2 0", ends: 1_000_000) == .fits, "it has ended")
        #expect(verdict("gateway 9.9.9 \(ProductVersion.format) 0", ends: 2_000_000) == .fits)
    }
}
