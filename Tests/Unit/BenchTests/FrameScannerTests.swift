import Core
import Testing

@testable import switchboard_bench

@Suite struct FrameScannerTests {
    /// The parts of a message as text, and the sum of its data.
    private struct Parts: Equatable {
        var event: String?
        var topic: String?
        var payload: String?
        var offset: Int?
        var mark: String?
        var sentUs: Int?
    }

    private static func parts(_ text: String) -> Parts? {
        let bytes = Array(text.utf8)
        guard let frame = FrameScanner(bytes.span) else { return nil }
        func part(_ range: Range<Int>?) -> String? { range.map { String(decoding: bytes[$0], as: UTF8.self) } }
        return Parts(
            event: part(frame.event), topic: part(frame.topic), payload: part(frame.payload), offset: frame.offset,
            mark: part(frame.mark), sentUs: frame.sentUs)
    }

    @Test func theGatewaysFormOfAnEvent() {
        let text = #"{"topic":"load:t7","event":"e","data":{"m":"p1-2","t":17,"p":"x"},"offset":18}"#
        #expect(
            FrameScannerTests.parts(text)
                == Parts(
                    event: "e", topic: "load:t7", payload: #"{"m":"p1-2","t":17,"p":"x"}"#, offset: 18, mark: "p1-2",
                    sentUs: 17))
    }

    /// Members inside others, in strings and after escapes are not taken for the ones looked for.
    @Test func onlyTheOuterMembersCount() {
        let payload = #"{ "p" : "a\"},\"m\":\"no\\" , "q":[{"m":"no","t":1}] ,"m": "yes" , "t" : null }"#
        let text = #"{"data":"# + payload + #", "offset" : 3 ,"x":{"topic":"no"},"event":"e","ref":"no"}"#
        #expect(
            FrameScannerTests.parts(text)
                == Parts(event: "e", topic: nil, payload: payload, offset: 3, mark: "yes", sentUs: nil))
    }

    @Test(arguments: ["[]", "17", "-1.5e3", #""text""#, "null", "{}", "[{},[]]"])
    func dataOfAnyKindIsKeptExactly(_ payload: String) {
        let parts = FrameScannerTests.parts(#"{"event":"e","data":"# + payload + "}")
        #expect(parts?.payload == payload)
        #expect(parts?.mark == nil)
    }

    /// Every text that ends too early, or goes on, is refused and read to its end at most.
    @Test func halfAMessageIsNotUnderstood() {
        let text = #"{"topic":"load:t7","event":"e","data":{"m":"a\\","q":[1,{"b":"\""}]},"offset":18}"#
        #expect(FrameScannerTests.parts(text) != nil)
        for count in 0..<text.utf8.count { #expect(FrameScannerTests.parts(String(text.prefix(count))) == nil) }
        #expect(FrameScannerTests.parts(text + "}") == nil)
        #expect(FrameScannerTests.parts(#"{"topic":"load:t7"}"#) == nil)
        #expect(FrameScannerTests.parts("") == nil)
    }

    @Test func namesAreComparedWhole() {
        let bytes = Array(#"{"event":"gap"}"#.utf8)
        let frame = FrameScanner(bytes.span)
        let answers = ["gap" as StaticString, "ga", "gaps"].map { frame?.isNamed($0, bytes.span) }
        #expect(answers == [true, false, false])
    }
}
