import RedisLink
import TestSupport
import Testing

@Suite struct RESPReaderTests {
    static let limits = RESPLimits(replyBytesMax: 4_096, elementsMax: 100, lineBytesMax: 256)

    /// What a stream gave: the replies before the fault, and the fault.
    struct Outcome: Equatable {
        var replies: [RESPValue] = []
        var error: RESPError?
    }

    static func read(_ chunks: [[UInt8]], limits: RESPLimits = limits) throws -> Outcome {
        var reader = try RESPReader(limits: limits)
        var outcome = Outcome()
        for chunk in chunks {
            do throws(RESPError) {
                try reader.read(chunk.span, into: &outcome.replies)
            } catch {
                outcome.error = error
                break
            }
        }
        return outcome
    }

    static func string(_ text: String) -> RESPValue { .string(bytes(text)) }

    /// Streams recorded from Redis 7.0.15, with what they hold.
    static let recorded: [(String, [RESPValue])] = [
        (
            "+PONG\r\n+OK\r\n:2\r\n$-1\r\n*0\r\n:1\r\n"
                + "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            [
                .status(bytes("PONG")), .status(bytes("OK")), .integer(2), .null, .array([]), .integer(1),
                .error(bytes("WRONGTYPE Operation against a key holding the wrong kind of value")),
            ]
        ),
        (
            "*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\ne\r\n$1\r\nx\r\n*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n*-1\r\n",
            [
                .array([.array([string("1-0"), .array([string("e"), string("x")])])]),
                .array([string("master"), .integer(0), .array([])]), .null,
            ]
        ),
        (
            "*2\r\n:1\r\n*2\r\n:2\r\n*2\r\n:3\r\n*2\r\n:4\r\n*2\r\n:5\r\n*2\r\n:6\r\n*1\r\n:7\r\n",
            [
                .array([
                    .integer(1),
                    .array([
                        .integer(2),
                        .array([
                            .integer(3),
                            .array([.integer(4), .array([.integer(5), .array([.integer(6), .array([.integer(7)])])])]),
                        ]),
                    ]),
                ])
            ]
        ),
        (
            "*3\r\n$9\r\nsubscribe\r\n$7\r\nshop:42\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$7\r\nshop:42\r\n$15\r\n"
                + "P k3x9 1 e -\n{}\r\n*4\r\n$8\r\npmessage\r\n$6\r\nshop:*\r\n$7\r\nshop:42\r\n$0\r\n\r\n"
                + "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n",
            [
                .array([string("subscribe"), string("shop:42"), .integer(1)]),
                .array([string("message"), string("shop:42"), string("P k3x9 1 e -\n{}")]),
                .array([string("pmessage"), string("shop:*"), string("shop:42"), string("")]),
                .array([string("unsubscribe"), .null, .integer(0)]),
            ]
        ),
        (
            "$4\r\n\r\n\r\n\r\n:-9223372036854775808\r\n:9223372036854775807\r\n*2\r\n*-1\r\n$-1\r\n$7\r\nmassage\r\n",
            [
                string("\r\n\r\n"), .integer(Int.min), .integer(Int.max), .array([.null, .null]), string("massage"),
            ]
        ),
    ]

    /// Streams that must be refused, with the fault; `nil` where the codec's words are its own.
    static let hostile: [(String, RESPError?)] = [
        ("*2147483647\r\n", .tooManyElements),
        ("*101\r\n", .tooManyElements),
        ("*2\r\n*60\r\n", nil),
        ("*99\r\n*2\r\n", .tooManyElements),
        ("*2147483648\r\n", .malformed("Multi-bulk length out of range")),
        ("*-2\r\n", .malformed("Multi-bulk length out of range")),
        ("*\r\n", .malformed("Bad multi-bulk length")),
        ("*1x\r\n", .malformed("Bad multi-bulk length")),
        ("*01\r\n", .malformed("Bad multi-bulk length")),
        (String(repeating: "*", count: 40), .lineTooLong),
        (String(repeating: "1", count: 40), .malformed("")),
        (
            String(repeating: "*1\r\n", count: 9),
            .malformed("No support for nested multi bulk replies with depth > 7")
        ),
        ("$4611686018427387904\r\n", .replyTooLarge),
        ("$9223372036854775807\r\n", .replyTooLarge),
        ("$9223372036854775808\r\n", .malformed("Bad bulk string length")),
        ("$18446744073709551616\r\n", .malformed("Bad bulk string length")),
        ("$4096\r\n", .replyTooLarge),
        ("$-2\r\n", .malformed("Bulk string length out of range")),
        ("$+5\r\nhello\r\n", .malformed("Bad bulk string length")),
        ("$ 5\r\nhello\r\n", .malformed("Bad bulk string length")),
        ("$5\r\nhelloXY", .malformed("Bulk string without line end")),
        ("$5\r\nhello\n\r", .malformed("Bulk string without line end")),
        ("$" + String(repeating: "1", count: 40), .lineTooLong),
        (":" + String(repeating: "1", count: 40), .lineTooLong),
        ("*" + String(repeating: "1", count: 40), .lineTooLong),
        (":1.5\r\n", .malformed("Bad integer value")),
        (":\r\n", .malformed("Bad integer value")),
        (":9223372036854775808\r\n", .malformed("Bad integer value")),
        ("+" + String(repeating: "x", count: 257) + "\r\n", .lineTooLong),
        ("-" + String(repeating: "x", count: 300), .lineTooLong),
        ("*3\r\n" + String(repeating: "$1300\r\n" + String(repeating: "x", count: 1_300) + "\r\n", count: 4), nil),
        (
            "*4\r\n" + String(repeating: "$1300\r\n" + String(repeating: "x", count: 1_300) + "\r\n", count: 4),
            .replyTooLarge
        ),
        ("%1\r\n+a\r\n+b\r\n", .malformed("")), (">2\r\n", .malformed("")), ("_\r\n", .malformed("")),
        ("#t\r\n", .malformed("")), (",1.5\r\n", .malformed("")), ("~1\r\n", .malformed("")),
        ("(12\r\n", .malformed("")), ("=7\r\ntxt:abc\r\n", .malformed("")), ("|1\r\n", .malformed("")),
        ("\r\n", .malformed("")), ("HTTP/1.1 400 Bad Request\r\n", .malformed("")), ("\u{0}", .malformed("")),
    ]

    @Test(arguments: recorded.indices)
    func recordedStreamsReadAsWhatTheyHold(_ index: Int) throws {
        let (stream, expected) = RESPReaderTests.recorded[index]
        #expect(try RESPReaderTests.read([bytes(stream)]) == Outcome(replies: expected, error: nil))
    }

    @Test(arguments: recorded.indices)
    func cutsDoNotChangeReplies(_ index: Int) throws {
        let (stream, expected) = RESPReaderTests.recorded[index]
        try expectSame(bytes(stream), Outcome(replies: expected, error: nil))
    }

    @Test(arguments: hostile.indices)
    func hostileStreamsAreRefusedUnderAnyCut(_ index: Int) throws {
        let (stream, expected) = RESPReaderTests.hostile[index]
        let whole = try RESPReaderTests.read([bytes(stream)])
        switch (whole.error, expected) {
        case (.malformed, .malformed("")): break
        default: #expect(whole.error == expected)
        }
        // What was refused whole is refused in pieces; an early refusal may name the length before the content.
        for seed in 1...20 as ClosedRange<UInt64> {
            let cut = try RESPReaderTests.read(Seeded.cuts(bytes(stream), seed: seed))
            #expect((cut.error == nil) == (whole.error == nil), "seed \(seed)")
            #expect(cut.replies == whole.replies, "seed \(seed)")
        }
        let single = try RESPReaderTests.read(bytes(stream).map { [$0] })
        #expect((single.error == nil) == (whole.error == nil))
    }

    @Test func repliesBeforeAFaultAreDelivered() throws {
        let outcome = try RESPReaderTests.read([bytes("+OK\r\n:1\r\n>3\r\n")])
        #expect(outcome.replies == [.status(bytes("OK")), .integer(1)])
        #expect(outcome.error == .malformed("Protocol error, got \">\" as reply type byte"))
    }

    @Test func aFailedReaderStaysUnusable() throws {
        var reader = try RESPReader(limits: RESPReaderTests.limits)
        var replies: [RESPValue] = []
        #expect(throws: RESPError.self) { try reader.read(bytes("!").span, into: &replies) }
        #expect(throws: RESPError.unusable) { try reader.read(bytes("+OK\r\n").span, into: &replies) }
        #expect(replies.isEmpty)
    }

    @Test(arguments: [0, 1, 100])
    func everyLimitHoldsAtItsValueAndBreaksOneBeyond(_ extra: Int) throws {
        let limits = RESPLimits(replyBytesMax: 600 + extra, elementsMax: 20 + extra, lineBytesMax: 30 + extra)
        func outcome(_ text: String) throws -> RESPError? {
            try RESPReaderTests.read([bytes(text)], limits: limits).error
        }
        let line = String(repeating: "x", count: 30 + extra)
        #expect(try outcome("+" + line + "\r\n") == nil)
        #expect(try outcome("+" + line + "x\r\n") == .lineTooLong)
        #expect(try outcome("*\(20 + extra)\r\n") == nil)
        #expect(try outcome("*\(21 + extra)\r\n") == .tooManyElements)
        let bulk = 600 + extra - 8
        #expect(try outcome("$\(bulk)\r\n" + String(repeating: "x", count: bulk) + "\r\n") == nil)
        #expect(try outcome("$\(bulk + 1)\r\n" + String(repeating: "x", count: bulk + 1) + "\r\n") == .replyTooLarge)
        #expect(try outcome("$\(bulk + 1)\r\n") == .replyTooLarge)
    }

    @Test func limitsCountOneReplyNotTheConnection() throws {
        let limits = RESPLimits(replyBytesMax: 64, elementsMax: 3, lineBytesMax: 16)
        let message = "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$4\r\nabcd\r\n"
        let outcome = try RESPReaderTests.read([bytes(String(repeating: message, count: 5_000))], limits: limits)
        #expect(outcome.error == nil)
        #expect(outcome.replies.count == 5_000)
    }

    @Test func aLargeBulkStringArrivesWhole() throws {
        let limits = RESPLimits(replyBytesMax: 8_000_000, elementsMax: 10, lineBytesMax: 16)
        let payload = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let stream = bytes("*2\r\n$\(payload.count)\r\n") + payload + bytes("\r\n:7\r\n+next\r\n")
        let chunks = stride(from: 0, to: stream.count, by: 70_000).map {
            Array(stream[$0..<min($0 + 70_000, stream.count)])
        }
        let outcome = try RESPReaderTests.read(chunks, limits: limits)
        #expect(outcome.replies == [.array([.string(payload), .integer(7)]), .status(bytes("next"))])
    }

    @Test func unfinishedBytesTellWhetherAReplyIsOpen() throws {
        var reader = try RESPReader(limits: RESPReaderTests.limits)
        var replies: [RESPValue] = []
        try reader.read(bytes("+OK\r\n$5\r\nhe").span, into: &replies)
        var unfinished = reader.unfinishedBytes
        #expect(unfinished == 6)
        try reader.read(bytes("llo\r\n").span, into: &replies)
        unfinished = reader.unfinishedBytes
        #expect(unfinished == 0)
        #expect(replies == [.status(bytes("OK")), RESPReaderTests.string("hello")])
    }

    @Test func garbageNeverTraps() throws {
        let alphabet = bytes("*$+-:0123456789\r\n\r\n\r\nxyz%>_")
        for seed in 0..<UInt64(Histories.count(3_000)) {
            var random = Seeded(seed)
            let stream = (0..<Int.random(in: 1...80, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let whole = try RESPReaderTests.read([stream])
            let pieces = try RESPReaderTests.read(stream.map { [$0] })
            #expect(whole.replies == pieces.replies, "seed \(seed)")
        }
    }

    private func expectSame(_ stream: [UInt8], _ expected: Outcome) throws {
        #expect(try RESPReaderTests.read(stream.map { [$0] }) == expected)
        for seed in 1...100 as ClosedRange<UInt64> {
            #expect(try RESPReaderTests.read(Seeded.cuts(stream, seed: seed)) == expected, "seed \(seed)")
        }
    }
}
