import Testing

@testable import RedisLink

/// Whether a gateway's Redis user has the rights that it needs, as a server tells by `ACL DRYRUN`.
@Suite struct UserInquiryTests {
    private func facts(_ version: String = "7.0.15") throws -> ServerFacts {
        let lines = ["redis_version:\(version)", "run_id:\(ServerFactsTests.runID)", "role:master"]
        return try #require(ServerFacts(info: bytes(lines.joined(separator: "\r\n"))))
    }

    private func inquiry(isSharded: Bool = false, waits: Bool = false, namespaces: [String] = ["shop"]) -> UserInquiry {
        let names = namespaces.map { UserInquiry.Names(bytes("app:\($0):check"), "app:\($0):*") }
        return UserInquiry(
            user: "ann", prefix: "app:", scripts: ["ZADD", "XADD", "OTHER"],
            keys: [UserInquiry.Names(bytes("app:#nodes"), "app:#*")] + names,
            channels: names + [UserInquiry.Names(bytes("socketio"), "socketio")], patterns: [bytes("socket.io#*")],
            isSharded: isSharded, waits: waits)
    }

    /// Answers every question by what `refused` says to its words, `nil` for OK; the questions and the end.
    private func run(
        _ inquiry: UserInquiry, _ facts: ServerFacts, _ refused: ([String]) -> String?
    ) -> (asked: [String], rights: UserRights) {
        var asked: [String] = []
        let answers = inquiry.questions(facts).map { call -> Result<RESPValue, RedisFailure> in
            let words = call.arguments.map { String(decoding: $0, as: UTF8.self) }
            #expect(words.prefix(3) == ["ACL", "DRYRUN", "ann"] && call.key == nil)
            asked.append(words.dropFirst(3).joined(separator: " "))
            let refusal = refused(Array(words.dropFirst(3))).map { "This user has no permissions to \($0)" }
            return .success(refusal.map { .string(bytes($0)) } ?? .status(bytes("OK")))
        }
        return (asked, inquiry.rights(answers))
    }

    @Test func aServerBeforeSevenIsNotAsked() throws {
        #expect(run(inquiry(), try facts("6.2.14")) { _ in nil }.rights == .unasked)
    }

    @Test func aUserWithEverythingIsAskedForAllAndLacksNothing() throws {
        let (asked, rights) = run(inquiry(), try facts()) { _ in nil }
        #expect(rights == .sufficient && Set(asked).count == asked.count)
        for question in [
            "EVALSHA s 1 app:#nodes", "SET app:#nodes v", "EVAL s 1 app:shop:check", "SUBSCRIBE app:shop:check",
            "PUBLISH socketio v",
            "PSUBSCRIBE socket.io#*",
        ] { #expect(asked.contains(question), "\(question)") }
        #expect(!asked.contains { $0.hasPrefix("SSUBSCRIBE") || $0.hasPrefix("CLUSTER") || $0.hasPrefix("WAIT") })
        let waiting = run(inquiry(waits: true), try facts()) { _ in nil }.asked
        #expect(Set(waiting) == Set(asked).union(["WAIT 0 1"]))
    }

    @Test func aMasterOfAClusterIsAskedForItsOwnKindOfChannels() throws {
        let (asked, rights) = run(inquiry(isSharded: true), try facts()) { _ in nil }
        #expect(rights == .sufficient && asked.contains("SPUBLISH app:shop:check v") && asked.contains("CLUSTER NODES"))
        #expect(!asked.contains { $0.hasPrefix("SUBSCRIBE") || $0.hasPrefix("PUBLISH") })
    }

    @Test func eachMissingRightIsNamedOnceByTheRuleThatGivesIt() throws {
        let (_, rights) = run(inquiry(), try facts()) { words in
            switch words[0] {
            case "SCRIPT": "run the 'script|load' command"
            case "SUBSCRIBE" where words[1] == "socketio", "PSUBSCRIBE": "access the '\(words[1])' channel"
            case "EVAL": words[3] == "app:shop:check" ? "access the 'app:shop:check' key" : nil
            case "XADD": "run the 'xadd' command"
            default: nil
            }
        }
        #expect(rights == .missing(["+script|load", "+xadd", "~app:shop:*", "&socketio", "&socket.io#*"]))
    }

    @Test func aCommandIsNotMissingBecauseItsKeyIs() throws {
        let (_, rights) = run(inquiry(), try facts()) { words in
            words.contains("app:#nodes") ? "access the 'app:#nodes' key" : nil
        }
        #expect(rights == .missing(["~app:#*"]))
    }

    @Test func manyMissingNamesAreOneRuleForThePrefix() throws {
        let many = inquiry(namespaces: ["chat", "order", "shop", "user"])
        let (_, rights) = run(many, try facts()) { words in
            words[0].hasSuffix("SUBSCRIBE") ? "access the '\(words[1])' channel" : nil
        }
        #expect(rights == .missing(["&app:*", "&socketio", "&socket.io#*"]))
    }

    @Test func commandsOfScriptsThatAreNotServedAreNotAskedFor() throws {
        let (asked, _) = run(inquiry(), try facts()) { _ in nil }
        #expect(asked.contains("ZADD app:#nodes 1 v") && !asked.contains { $0.hasPrefix("ZREM") })
    }

    @Test func aUserWhoMayNotAskLearnsNothing() {
        let refusal = RedisFailure(reply: bytes("NOPERM this user has no permissions to run the 'acl|dryrun' command"))
        #expect(inquiry().rights([.failure(refusal), .failure(refusal)]) == .unknown(refusal))
        #expect(inquiry().rights([.success(.integer(1))]) == .unknown(RedisFailure(.protocolViolation)))
    }

    /// A server may have a command under another name.
    @Test func aMissingRightIsToldThoughAnotherAnswerFailed() {
        let renamed = RedisFailure(reply: bytes("ERR Command 'ping' not found"))
        let refusal = RESPValue.string(bytes("This user has no permissions to run the 'info' command"))
        #expect(inquiry().rights([.failure(renamed), .success(refusal)]) == .missing(["+info"]))
        #expect(inquiry().rights([.failure(renamed), .success(.status(bytes("OK")))]) == .unknown(renamed))
    }
}
