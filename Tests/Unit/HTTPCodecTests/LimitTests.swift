import HTTPCodec
import Testing

/// Each limit: what is at it is taken, one more is refused.
@Suite struct LimitTests {
    private let limits = HTTPLimits(requestLineBytesMax: 40, headBytesMax: 200, headersMax: 5, bodyBytesMax: 10)

    private func status(_ input: [UInt8]) -> Int? { Transcript(input, limits: limits).failure?.status }
    private func line(_ count: Int) -> String {
        "GET /" + String(repeating: "a", count: count - 14) + " HTTP/1.1"
    }

    @Test func requestLine() {
        #expect(line(40).utf8.count == 40)
        #expect(status(request(line(40), "Host: a")) == nil)
        #expect(status(request(line(41), "Host: a")) == 414)
    }

    @Test func requestLineIsRefusedBeforeItEnds() {
        #expect(status(Array(String(repeating: "A", count: 40).utf8)) == nil)
        #expect(status(Array(String(repeating: "A", count: 41).utf8)) == 414)
    }

    @Test func headBytes() {
        func input(_ count: Int) -> [UInt8] {
            let fixed = request("GET / HTTP/1.1", "Host: a", "X: ").count
            return request("GET / HTTP/1.1", "Host: a", "X: " + String(repeating: "x", count: count - fixed))
        }
        #expect(input(200).count == 200)
        #expect(Transcript(input(200), limits: limits).heads.count == 1)
        #expect(status(input(200)) == nil)
        #expect(status(input(201)) == 431)
    }

    @Test func headBytesAreCountedAnewForEachRequest() {
        let one = get("X: " + String(repeating: "x", count: 120))
        #expect(Transcript(one + one + one, limits: limits).heads.count == 3)
    }

    @Test func headerCount() {
        #expect(status(get("a:", "b:", "c:", "d:")) == nil)
        #expect(status(get("a:", "b:", "c:", "d:", "e:")) == 431)
    }

    @Test func bodyByLength() {
        #expect(Transcript(post("Content-Length: 10", body: "0123456789"), limits: limits).bodies == ["0123456789"])
        let tooLong = Transcript(post("Content-Length: 11", body: "0123456789x"), limits: limits)
        #expect(tooLong.failure?.status == 413)
        #expect(tooLong.heads.isEmpty)
    }

    @Test func chunkedBody() {
        func input(_ second: String, _ text: String) -> [UInt8] {
            post("Transfer-Encoding: chunked", body: "5\r\nhello\r\n\(second)\r\n\(text)\r\n0\r\n\r\n")
        }
        #expect(Transcript(input("5", "world"), limits: limits).bodies == ["helloworld"])
        #expect(status(input("6", "world!")) == 413)
    }

    @Test func trailerCountAndBytes() {
        func input(_ trailers: String) -> [UInt8] { post("Transfer-Encoding: chunked", body: "0\r\n\(trailers)\r\n") }
        #expect(status(input("a:\r\nb:\r\nc:\r\nd:\r\ne:\r\n")) == nil)
        #expect(status(input("a:\r\nb:\r\nc:\r\nd:\r\ne:\r\nf:\r\n")) == 431)
        #expect(status(input("a:" + String(repeating: "x", count: 194) + "\r\n")) == nil)
        #expect(status(input("a:" + String(repeating: "x", count: 195) + "\r\n")) == 431)
    }

    @Test func chunkExtensions() {
        func input(_ count: Int) -> [UInt8] {
            let long = ";" + String(repeating: "x", count: count - 1)
            return post("Transfer-Encoding: chunked", body: "1\(long)\r\na\r\n0\r\n\r\n")
        }
        #expect(status(input(198)) == nil)
        #expect(status(input(201)) == 431)
    }

    /// A body of 256 kB, byte by byte: were any step quadratic, this would not end in a reasonable time.
    @Test func manySmallPiecesAreLinear() {
        let text = String(repeating: "x", count: 262_144)
        let input = post("Content-Length: 262144", body: text)
        #expect(Transcript(input, cuts: Array(1..<input.count)).bodies == [text])
    }

    /// One-byte chunks cost no memory beyond their bytes and no time beyond their length.
    @Test func manySmallChunks() {
        let body = String(repeating: "1\r\nx\r\n", count: 20_000) + "0\r\n\r\n"
        #expect(Transcript(post("Transfer-Encoding: chunked", body: body)).bodies.first?.utf8.count == 20_000)
    }

    /// Allocating what a client merely announces is how Centrifugo was exhausted: 2^40 bytes announced, none sent.
    @Test func announcedLengthIsNotAllocated() {
        let generous = HTTPLimits(requestLineBytesMax: 40, headBytesMax: 200, headersMax: 5, bodyBytesMax: .max)
        let byLength = Transcript(post("Content-Length: 1099511627776", body: "x"), limits: generous)
        #expect(byLength.heads.count == 1 && byLength.failure == nil)
        let byChunk = Transcript(post("Transfer-Encoding: chunked", body: "7fffffffffffffff\r\nx"), limits: generous)
        #expect(byChunk.heads.count == 1 && byChunk.failure == nil)
        let over = Transcript(post("Transfer-Encoding: chunked", body: "8000000000000000\r\nx"), limits: generous)
        #expect(over.failure?.status == 413)
    }

    @Test func limitsOfZeroRefuseEverything() {
        let none = HTTPLimits(requestLineBytesMax: 0, headBytesMax: 0, headersMax: 0, bodyBytesMax: 0)
        #expect(Transcript(get(), limits: none).failure?.status == 431)
    }
}
