import Testing

@testable import RedisLink

@Suite struct SentinelCountTests {
    static let p = SentinelGroup.Address(host: "10.0.0.1", port: 6_379)
    static let q = SentinelGroup.Address(host: "10.0.0.2", port: 6_379)

    static func group(_ count: Int) -> SentinelGroup {
        SentinelGroup(
            sentinels: (0..<count).map { SentinelGroup.Address(host: "s\($0)", port: 26_379) }, name: bytes("m"),
            tls: false, user: nil, password: nil)
    }

    static func names(_ address: SentinelGroup.Address, _ epoch: Int) -> SentinelAnswer {
        .named(SentinelAnswer.Named(address: address, epoch: epoch, sentinels: 3, quorum: 2, replicas: 1))
    }

    static let away = SentinelAnswer.silent(RedisFailure(.disconnected))

    static let counts: [(answers: [SentinelAnswer], expected: (SentinelGroup.Address, Int)?)] = [
        ([names(p, 0), names(p, 0), names(p, 0)], (p, 0)),
        ([names(p, 3), names(p, 2), away], (p, 3)),
        // Half of them is not more than half, whoever answers first.
        ([names(p, 0), away, away], nil), ([names(p, 1), names(p, 1), away, away], nil),
        // One that was cut off together with the old master goes on naming it.
        ([names(p, 1), names(q, 2), names(q, 2)], (q, 2)),
        // The one that knows of a later failover has not told the others yet.
        ([names(p, 1), names(p, 1), names(q, 2)], nil),
        ([names(p, 1), names(q, 2), away], nil), ([.unknown, .unknown, names(p, 1)], nil),
        ([names(p, 1), names(p, 1), .unknown], (p, 1)), ([names(p, 7)], (p, 7)), ([away], nil), ([.unknown], nil),
    ]

    @Test(arguments: counts.indices)
    func moreThanHalfOfTheConfiguredDecide(_ index: Int) {
        let (answers, expected) = SentinelCountTests.counts[index]
        let count = SentinelCount(answers, of: SentinelCountTests.group(answers.count))
        guard let expected else {
            if case .none(let failure) = count {
                #expect(failure.kind == .noMaster && !failure.detail.isEmpty)
            } else {
                Issue.record("\(count)")
            }
            return
        }
        #expect(count == .master(expected.0, epoch: expected.1))
    }

    @Test func whyThereIsNoMasterIsSaid() {
        func text(_ answers: [SentinelAnswer]) -> String {
            if case .none(let failure) = SentinelCount(answers, of: SentinelCountTests.group(answers.count)) {
                return failure.detail
            }
            return ""
        }
        let (away, p) = (SentinelCountTests.away, SentinelCountTests.names(SentinelCountTests.p, 1))
        #expect(text([.unknown, .unknown, away]) == "the Sentinels watch no master named m")
        #expect(text([p, away, away]) == "2 of 3 Sentinels do not answer")
        let refused = SentinelAnswer.silent(RedisFailure(.noAuthentication, text: "NOAUTH"))
        #expect(text([p, refused, refused]) == "2 of 3 Sentinels do not answer: noauth NOAUTH")
        #expect(text([p, SentinelCountTests.names(SentinelCountTests.q, 2), away]).contains("do not agree"))
    }

    @Test func anAnswerIsReadAndAnythingElseIsSilence() {
        func reply(_ fields: [String]) -> SentinelAnswer {
            SentinelAnswer(.success(.array(fields.map { .string(bytes($0)) })))
        }
        let whole = ["name", "m", "ip", "10.0.0.1", "port", "6379", "config-epoch", "4", "num-other-sentinels", "2"]
        #expect(
            reply(whole + ["quorum", "2", "num-slaves", "1", "flags", "master"])
                == SentinelCountTests.names(SentinelCountTests.p, 4))
        #expect(SentinelAnswer(.failure(RedisFailure(reply: bytes("ERR No such master with that name")))) == .unknown)
        for broken in [
            Array(whole.dropLast()), [], ["ip", "10.0.0.1", "port", "6379"],
            ["ip", "", "port", "1", "config-epoch", "1"],
            ["ip", "a b", "port", "1", "config-epoch", "1"], ["ip", "a", "port", "65536", "config-epoch", "1"],
            ["ip", "a", "port", "0", "config-epoch", "1"], ["ip", "a", "port", "1", "config-epoch", "-1"],
            ["ip", String(repeating: "a", count: 254), "port", "1", "config-epoch", "1"],
        ] {
            guard case .silent(let failure) = reply(broken) else {
                Issue.record("\(broken)")
                continue
            }
            #expect(failure.kind == .protocolViolation)
        }
        for value: RESPValue in [.null, .integer(1), .string(bytes("x")), .array([.null, .null])] {
            guard case .silent = SentinelAnswer(.success(value)) else {
                Issue.record("\(value)")
                continue
            }
        }
    }

    /// `switchboard check` doubles the quorum.
    @Test func whateverASentinelCountsIsBounded() {
        let words =
            ["ip", "10.0.0.1", "port", "6379", "config-epoch", "0"]
            + ["quorum", "num-other-sentinels", "num-slaves"].flatMap { [$0, "\(Int.max)"] }
        guard case .named(let named) = SentinelAnswer(.success(.array(words.map { .string(bytes($0)) }))) else {
            Issue.record("the answer is not understood")
            return
        }
        #expect([named.quorum, named.sentinels, named.replicas] == [10_000, 10_001, 10_000])
    }
}
