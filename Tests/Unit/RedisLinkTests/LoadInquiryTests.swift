import Testing

@testable import RedisLink

/// Whether a server could load its own append-only file, as it tells by `ACL DRYRUN`.
@Suite struct LoadInquiryTests {
    private func facts(_ version: String = "7.0.15", appendOnly: Bool = true) throws -> ServerFacts {
        let lines = ["redis_version:\(version)", "run_id:\(ServerFactsTests.runID)", "role:master"]
        return try #require(
            ServerFacts(info: bytes((lines + ["aof_enabled:\(appendOnly ? 1 : 0)"]).joined(separator: "\r\n"))))
    }

    /// Answers every question by what `answer` says to its command; the questions and the end.
    private func run(
        _ facts: ServerFacts, prefix: String = "", _ answer: (String) -> Result<RESPValue, RedisFailure>
    ) -> (asked: [String], rights: LoadRights) {
        let inquiry = LoadInquiry(prefix: bytes(prefix))
        var asked: [String] = []
        let answers = inquiry.questions(facts).map { call in
            let words = call.arguments.map { String(decoding: $0, as: UTF8.self) }
            #expect(words.prefix(3) == ["ACL", "DRYRUN", "default"] && call.key == nil)
            asked.append(words.dropFirst(3).joined(separator: " "))
            return answer(words[3])
        }
        return (asked, inquiry.rights(answers))
    }

    @Test func aServerWithoutAnAppendOnlyFileOrBeforeSevenIsNotAsked() throws {
        for facts in [try facts(appendOnly: false), try facts("6.2.14")] {
            let (asked, rights) = run(facts) { _ in .success(.status(bytes("OK"))) }
            #expect(asked.isEmpty && rights == .notNeeded)
        }
    }

    @Test func everyKindOfWriteIsAskedForOnAKeyThatPatternsOfNamesDoNotMatch() throws {
        let (asked, rights) = run(try facts(), prefix: "app:") { _ in .success(.status(bytes("OK"))) }
        #expect(rights == .sufficient && asked.first == "MULTI" && asked.contains("XADD app:?load * f v"))
        for command in ["SET", "DEL", "PEXPIREAT", "HSET", "RPUSH", "SADD", "ZADD", "XADD", "XGROUP"] {
            #expect(asked.contains { $0.hasPrefix(command + " ") && $0.contains("app:?load") }, "\(command)")
        }
    }

    @Test func theFirstRefusalIsToldByItsWords() throws {
        let words = "This user has no permissions to run the 'xadd' command"
        let (asked, rights) = run(try facts("8.0.1")) {
            .success($0 == "XADD" ? .string(bytes(words + "\r\n")) : $0 == "XTRIM" ? .string([]) : .status(bytes("OK")))
        }
        #expect(rights == .missing(words + "??") && asked.contains { $0.hasPrefix("XTRIM") })
    }

    @Test func aUserWhoMayNotAskLearnsNothing() throws {
        let refusal = RedisFailure(reply: bytes("NOPERM this user has no permissions to run the 'acl|dryrun' command"))
        let (asked, rights) = run(try facts()) { _ in .failure(refusal) }
        #expect(asked.first == "MULTI" && rights == .unknown(refusal) && refusal.kind == .noPermission)
        #expect(run(try facts()) { _ in .success(.integer(1)) }.rights == .unknown(RedisFailure(.protocolViolation)))
    }

    @Test func replicasAreReadAsFarAsTheyTellWhereTheyAre() throws {
        let text = """
            role:master\r\nconnected_slaves:4\r\nslave0:ip=10.0.0.22,port=6379,state=online,offset=14,lag=0\r
            slave1:ip=fd00::2,port=7000,state=online\r\nslave2:ip=bad host,port=1\r\nslave3:ip=10.0.0.9,port=0
            """
        let facts = try #require(ReplicationFacts(info: bytes(text)))
        #expect(facts.replicas.map(\.text) == ["10.0.0.22:6379", "[fd00::2]:7000"])
        #expect(try #require(ReplicationFacts(info: bytes("role:master\nconnected_slaves:9999999"))).replicas.isEmpty)
    }
}
