import HTTPCodec
import Testing

@Suite struct RepeatedHeadTests {
    /// A parser that keeps each head, and the heads and bodies that it has read.
    struct Keeper {
        var parser = HTTPRequestParser(limits: standardLimits)
        var events: [HTTPEvent] = []
        var heads: [HTTPRequestHead] = []

        mutating func feed(_ input: [UInt8]) {
            var position = 0
            while let event = parser.next(input.span, at: &position) {
                events.append(event)
                guard case .head(let head) = event else { continue }
                heads.append(head)
                parser.keepHead()
            }
        }

        mutating func feed(_ inputs: [UInt8]...) { for input in inputs { feed(input) } }
    }

    static func publish(_ body: String, _ more: String..., length: String? = nil) -> [UInt8] {
        let length = length ?? "\(body.utf8.count)"
        let lines = ["POST /v1/broadcast HTTP/1.1", "Host: example.com", "Content-Length: " + length] + more
        return Array((lines + ["", body]).joined(separator: "\r\n").utf8)
    }

    @Test func aHeadThatIsSentAgainIsRecognised() {
        var keeper = Keeper()
        keeper.feed(RepeatedHeadTests.publish("{\"a\":1}"), RepeatedHeadTests.publish("{\"b\":22}"))
        #expect(keeper.heads.count == 2)
        #expect(keeper.heads[1].repeats(keeper.heads[0]))
        #expect(keeper.heads.map(\.body) == [.length(7), .length(8)])
        #expect(keeper.events[1] == .body(Array("{\"a\":1}".utf8)))
        #expect(keeper.events[3] == .body(Array("{\"b\":22}".utf8)))
    }

    @Test func theNumberOfTheLengthIsTheBodysAlone() throws {
        var keeper = Keeper()
        keeper.feed(RepeatedHeadTests.publish("{\"a\":1}"))
        let head = try #require(keeper.heads.first)
        #expect(head.headers.single("content-length") == .absent)
        #expect(head.headers.single("host") == .one(Array("example.com".utf8)))
    }

    @Test func pipelinedRequestsAreRecognised() {
        var keeper = Keeper()
        keeper.feed(RepeatedHeadTests.publish("1") + RepeatedHeadTests.publish("2") + RepeatedHeadTests.publish("3"))
        #expect(keeper.heads.count == 3)
        #expect(keeper.heads.allSatisfy { $0.repeats(keeper.heads[0]) })
        #expect(keeper.events.count == 6)
    }

    @Test func requestsWithoutABodyAreRecognised() {
        var keeper = Keeper()
        keeper.feed(get(path: "/v1/topics/shop:1"), get(path: "/v1/topics/shop:1"), get(path: "/v1/topics/shop:2"))
        #expect(keeper.heads[1].repeats(keeper.heads[0]))
        #expect(!keeper.heads[2].repeats(keeper.heads[0]))
        #expect(keeper.heads[2].path == Array("/v1/topics/shop:2".utf8))
    }

    @Test func aHeadInPartsIsParsed() {
        var keeper = Keeper()
        let request = RepeatedHeadTests.publish("{}")
        keeper.feed(request, Array(request[..<20]), Array(request[20...]), request)
        #expect(keeper.heads.count == 3)
        #expect(!keeper.heads[1].repeats(keeper.heads[0]))
        #expect(keeper.heads[1] == keeper.heads[0])
        #expect(keeper.heads[2].repeats(keeper.heads[0]))
    }

    @Test func aHeadThatNobodyKeptIsParsed() {
        var parser = HTTPRequestParser(limits: standardLimits)
        var heads: [HTTPRequestHead] = []
        for _ in 0..<2 {
            let input = RepeatedHeadTests.publish("{}")
            var position = 0
            while let event = parser.next(input.span, at: &position) {
                if case .head(let head) = event { heads.append(head) }
            }
        }
        #expect(heads.count == 2)
        #expect(!heads[1].repeats(heads[0]))
    }

    @Test(arguments: ["02", "+2", " 2", "2a", "-1", "99"])
    func anotherLengthIsJudgedAsByANewParser(_ length: String) {
        var keeper = Keeper()
        keeper.feed(RepeatedHeadTests.publish("0123456789", "X: y"))
        let next = RepeatedHeadTests.publish("{}", "X: y", length: length)
        keeper.feed(next)
        let fresh = Transcript(next)
        #expect(Array(keeper.events.dropFirst(2)) == fresh.events)
    }

    @Test func aLengthBeyondTheLimitIsRefused() {
        let limits = HTTPLimits(requestLineBytesMax: 128, headBytesMax: 512, headersMax: 8, bodyBytesMax: 64)
        var parser = HTTPRequestParser(limits: limits)
        var events: [HTTPEvent] = []
        for input in [RepeatedHeadTests.publish("0123456789"), RepeatedHeadTests.publish("", length: "65")] {
            var position = 0
            while let event = parser.next(input.span, at: &position) {
                events.append(event)
                parser.keepHead()
            }
        }
        guard case .failed(let failure) = events.last else { return #expect(Bool(false), "65 bytes were accepted") }
        #expect(failure.status == 413)
    }

    /// Each single changed byte has the outcome that a new parser gives it.
    @Test func eachChangedByteIsJudgedAsByANewParser() {
        let first = RepeatedHeadTests.publish("{}", "Authorization: Bearer abc", "Accept: */*")
        for index in first.indices {
            for byte in [first[index] ^ 1, first[index] ^ 0x20, 0x0d, 0x0a, 0x20, 0x3a, 0x30, 0x39, 0xff] {
                var next = first
                next[index] = byte
                var keeper = Keeper()
                keeper.feed(first)
                keeper.feed(next)
                #expect(Array(keeper.events.dropFirst(2)) == Transcript(next).events, "byte \(index) as \(byte)")
            }
        }
    }

    @Test func aLargeHeadIsNotKept() {
        var keeper = Keeper()
        let request = get("X-Large: " + String(repeating: "x", count: 2_048))
        keeper.feed(request, request)
        #expect(keeper.heads.count == 2)
        #expect(!keeper.heads[1].repeats(keeper.heads[0]))
    }
}
