import Core
import HTTPCodec
import Testing

@Suite struct RequestTests {
    @Test func simpleGet() throws {
        let transcript = Transcript(get("X-A: 1", "x-b:2", "X-A:  3  ", path: "/a/b?c=d?e"))
        #expect(transcript.bodies == [""])
        #expect(transcript.events.count == 2)
        let head = try #require(transcript.heads.first)
        #expect(head.method == .get)
        #expect(head.path == Array("/a/b".utf8))
        #expect(head.query == Array("c=d?e".utf8))
        #expect(head.host == Array("example.com".utf8))
        #expect(head.keepAlive)
        #expect(head.body == .none)
        #expect(!head.expectsContinue)
        #expect(head.upgrade == nil)
        #expect(head.headers.count == 4)
        #expect(head.headers.values(of: "x-a") == [Array("1".utf8), Array("3".utf8)])
        #expect(head.headers.single("X-A") == .repeated)
        #expect(head.headers.single("X-B") == .one(Array("2".utf8)))
        #expect(head.headers.single("x-c") == .absent)
        #expect(head.headers.fields.map { String(decoding: $0.name, as: UTF8.self) } == ["host", "x-a", "x-b", "x-a"])
    }

    @Test(arguments: HTTPMethod.allCases)
    func everyKnownMethod(_ method: HTTPMethod) throws {
        #expect(try head(request("\(method.rawValue) / HTTP/1.1", "Host: a")).method == method)
    }

    @Test func valuesMayHoldBytesBeyondASCII() throws {
        let found = try head(get("X-City: M\u{fc}nchen")).headers.single("x-city")
        #expect(found == .one(Array("M\u{fc}nchen".utf8)))
    }

    @Test func tokensSplitCommaLists() throws {
        let headers = try head(get("Accept: a, ,b\t,, c", "Accept:", "Accept: D")).headers
        #expect(headers.tokens(of: "accept") == ["a", "b", "c", "D"].map { Array($0.utf8) })
        #expect(headers.hasToken("d", in: "ACCEPT"))
        #expect(!headers.hasToken("e", in: "accept"))
    }

    @Test func bodyByLength() {
        let transcript = Transcript(post("Content-Length: 5", body: "hello"))
        #expect(transcript.bodies == ["hello"])
        #expect(transcript.heads.first?.body == .length(5))
    }

    @Test func lengthZeroIsNoBody() {
        let transcript = Transcript(post("Content-Length: 0", body: ""))
        #expect(transcript.heads.first?.body == HTTPBodyFraming.none)
        #expect(transcript.bodies == [""])
    }

    @Test func lengthWithSpacesAroundIsTheSameNumber() {
        #expect(Transcript(post("Content-Length:    5  ", body: "hello")).bodies == ["hello"])
    }

    @Test func unfinishedBodyGivesNoBody() {
        #expect(Transcript(post("Content-Length: 5", body: "hell")).bodies == [])
        #expect(Transcript(post("Transfer-Encoding: chunked", body: "5\r\nhello\r\n0\r\n")).bodies == [])
    }

    @Test(arguments: [
        "5\r\nhello\r\n0\r\n\r\n", "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", "005\r\nhello\r\n000\r\n\r\n",
        "5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n", "5\r\nhello\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n",
    ])
    func chunkedBody(_ body: String) {
        let transcript = Transcript(
            post("Transfer-Encoding: Chunked", body: body + "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(transcript.bodies == ["hello", ""])
        #expect(transcript.heads.first?.body == .chunked)
        #expect(transcript.heads.count == 2)
    }

    @Test func chunkSizeDigitsOfBothCases() {
        let text = String(repeating: "x", count: 0xaf)
        #expect(Transcript(post("Transfer-Encoding: chunked", body: "aF\r\n\(text)\r\n0\r\n\r\n")).bodies == [text])
    }

    @Test func trailersAreNotHeadersOfTheNextRequest() throws {
        let input = post("Transfer-Encoding: chunked", body: "0\r\nX-Admin: 1\r\n\r\n") + get()
        let heads = Transcript(input).heads
        #expect(heads.count == 2)
        #expect(heads.allSatisfy { $0.headers.single("x-admin") == .absent })
    }

    @Test func pipelinedRequestsComeInOrder() {
        let input = get(path: "/1") + post("Content-Length: 2", body: "ab") + get(path: "/3")
        let transcript = Transcript(input)
        #expect(transcript.bodies == ["", "ab", ""])
        #expect(transcript.heads.map { String(decoding: $0.path, as: UTF8.self) } == ["/1", "/x", "/3"])
    }

    @Test func callerMayStopBetweenPipelinedRequests() {
        let input = get(path: "/1") + get(path: "/2")
        var parser = HTTPRequestParser(limits: standardLimits)
        var position = 0
        _ = parser.next(input.span, at: &position)
        #expect(parser.isInsideRequest)
        _ = parser.next(input.span, at: &position)
        #expect(!parser.isInsideRequest)
        #expect(position == get(path: "/1").count)
    }

    @Test func oneEmptyLineBeforeARequestIsForgiven() {
        let crlf: [UInt8] = [0x0d, 0x0a]
        let transcript = Transcript(crlf + get() + crlf + get())
        #expect(transcript.heads.count == 2)
        #expect(transcript.failure == nil)
    }

    @Test func closeEndsTheConnection() {
        let transcript = Transcript(get("Connection: keep-alive, Close") + get())
        #expect(transcript.heads.count == 1)
        #expect(transcript.heads.first?.keepAlive == false)
        #expect(transcript.events.count == 2)
        #expect(transcript.remainder.isEmpty)
    }

    @Test func http10IsServedOnce() {
        let input = request("GET /livez HTTP/1.0", "Connection: keep-alive")
        let transcript = Transcript(input + get())
        #expect(transcript.heads.count == 1)
        #expect(transcript.heads.first?.keepAlive == false)
        #expect(transcript.heads.first?.host == [])
        #expect(transcript.bodies == [""])
    }

    @Test func http10BodyByLength() {
        let lines = request("POST / HTTP/1.0", "Content-Length: 2", "Expect: 100-continue", body: "ab")
        let transcript = Transcript(lines)
        #expect(transcript.bodies == ["ab"])
        #expect(transcript.heads.first?.expectsContinue == false)
    }

    @Test func expectContinue() throws {
        #expect(try head(post("Expect: 100-Continue", "Content-Length: 5", body: "")).expectsContinue)
        #expect(try head(post("Expect: 100-continue", "Transfer-Encoding: chunked", body: "")).expectsContinue)
        #expect(try !head(post("Expect: 100-continue", body: "")).expectsContinue)
    }

    @Test func identityEncodingIsNone() {
        #expect(Transcript(post("Content-Encoding: Identity", "Content-Length: 1", body: "x")).bodies == ["x"])
    }

    @Test(arguments: ["a", "a.b-c_d", "a:80", "127.0.0.1:8443", "[::1]", "[::ffff:1.2.3.4]:443", "a.", "A:65535"])
    func goodHosts(_ host: String) throws {
        #expect(try head(request("GET / HTTP/1.1", "Host: \(host)")).host == Array(host.utf8))
    }

    @Test func absoluteFormOfTheSameHost() throws {
        let found = try head(request("GET HTTP://Example.com:80/a?b HTTP/1.1", "Host: example.com:80"))
        #expect(found.path == Array("/a".utf8))
        #expect(found.query == Array("b".utf8))
        #expect(try head(request("GET https://a HTTP/1.1", "Host: a")).path == Array("/".utf8))
        #expect(try head(request("GET https://a?b HTTP/1.1", "Host: a")).query == Array("b".utf8))
    }

    @Test func asteriskForm() throws {
        let found = try head(request("OPTIONS * HTTP/1.1", "Host: a"))
        #expect(found.path == Array("*".utf8))
        #expect(found.pathSegments == nil)
    }

    @Test func positionOutsideTheInputIsHarmless() {
        var parser = HTTPRequestParser(limits: standardLimits)
        let empty: [UInt8] = []
        for start in [-1, 1, Int.max, Int.min] {
            var position = start
            let event = parser.next(empty.span, at: &position)
            #expect(event == nil)
            #expect(position == start)
        }
    }
}
