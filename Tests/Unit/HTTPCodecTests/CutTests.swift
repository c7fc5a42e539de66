import HTTPCodec
import TestSupport
import Testing

/// However the network cuts the bytes, the events are the same.
@Suite struct CutTests {
    static let accepted: [[UInt8]] = [
        get(), get("X: y", path: "/a?b=c") + get("Connection: close") + get(),
        post("Content-Length: 5", body: "hello") + get(),
        [0x0d, 0x0a] + post("Transfer-Encoding: chunked", body: "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n") + get(),
        request("GET / HTTP/1.0") + get(), webSocket(rest: "\u{01}\u{02}GET / HTTP/1.1\r\n"),
        get() + webSocket(more: "Sec-WebSocket-Protocol: a, b", rest: "rest"),
    ]
    static let all = accepted + RefusedRequests.all.map(\.input).filter { $0.count < 20_000 }

    @Test func acceptedInputsAreAccepted() {
        for input in CutTests.accepted { #expect(Transcript(input).failure == nil) }
    }

    @Test func byteByByte() {
        for input in CutTests.all {
            let whole = Transcript(input)
            let cut = Transcript(input, cuts: Array(0..<input.count))
            #expect(whole == cut, "\(String(decoding: input.prefix(200), as: UTF8.self))")
        }
    }

    @Test func atEverySinglePlace() {
        for input in CutTests.accepted {
            let whole = Transcript(input)
            for place in 0...input.count {
                #expect(Transcript(input, cuts: [place]) == whole, "cut at \(place)")
            }
        }
    }

    @Test func atRandomPlaces() {
        let seed: UInt64 = 20_261_104
        var generator = Seeded(seed)
        for input in CutTests.all {
            let whole = Transcript(input)
            for _ in 0..<8 {
                let cuts = (0..<Int.random(in: 1...6, using: &generator))
                    .map { _ in Int.random(in: 0...input.count, using: &generator) }.sorted()
                #expect(Transcript(input, cuts: cuts) == whole, "seed \(seed), cuts \(cuts)")
            }
        }
    }

    /// Damaged requests: no trap, at most one failure, and again the same events for every cut.
    @Test func damagedAtRandom() {
        let seed: UInt64 = 20_261_105
        var generator = Seeded(seed)
        for round in 0..<Histories.count(3_000) {
            var input = CutTests.accepted[round % CutTests.accepted.count]
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<input.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: input[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: input.remove(at: place)
                default: input.insert(input[input.count - 1 - place], at: place)
                }
            }
            let whole = Transcript(input)
            let cuts = [Int.random(in: 0...input.count, using: &generator)]
            #expect(Transcript(input, cuts: cuts) == whole, "seed \(seed), round \(round)")
            let failures = whole.events.filter { if case .failed = $0 { true } else { false } }
            #expect(failures.count <= 1, "seed \(seed), round \(round)")
        }
    }
}
