import RedisLink
import Testing

@testable import switchboard

/// The steps that `check` prints for servers that could not load their own files.
@Suite struct UpgradeStepTests {
    private let refused = LoadRights.unknown(RedisFailure(.noPermission))

    @Test func onlyServersThatNeedAStepAreNamedAndWordsAreQuotedForAShell() {
        let servers = [
            ServerRights(place: "10.0.0.21:6379", load: .missing("x"), user: .sufficient, isReplica: false),
            ServerRights(place: "[fd00::2]:6380", load: refused, user: .unasked, isReplica: true),
            ServerRights(place: "/run/redis.sock", load: .missing("x"), user: .sufficient, isReplica: false),
            ServerRights(place: "10.0.0.23:6379", load: .sufficient, user: .sufficient, isReplica: true),
        ]
        let text = UpgradeStep.report(UpgradeStep.Facts(servers: servers, user: "it's")).joined(separator: "\n")
        let client = "  redis-cli -h 10.0.0.21 -p 6379 --user operator --askpass "
        #expect(text.contains(client + "ACL SETUSER default off resetpass '~*' '&*' +@all\n" + client + "ACL SAVE\n"))
        #expect(text.contains("-s /run/redis.sock --user operator"))
        #expect(text.contains("-h fd00::2 -p 6380 --user operator --askpass ACL SETUSER 'it'\\''s' '+acl|dryrun'"))
        #expect(text.contains("step 2 of 2") && !text.contains("10.0.0.23"))
    }

    @Test func nothingIsDueWhereEverythingIsRight() {
        let server = ServerRights(place: "a:1", load: .sufficient, user: .sufficient, isReplica: false)
        #expect(
            UpgradeStep.report(UpgradeStep.Facts(servers: [server], user: "ours")) == [
                "upgrade: nothing is to be changed"
            ])
    }

    private func node(_ kind: NodeEntry.Kind, _ version: String) -> NodeEntry {
        var entry = NodeEntry(kind, name: Array("\(kind)\(version)".utf8))
        entry.version = version
        return entry
    }

    @Test func processesOfAnotherVersionAreReplacedInTheirOrderBehindTheStepsForServers() {
        let others = [
            node(.gateway, "0.9.0"), node(.worker, "0.9.0"), node(.worker, "0.8.0"), node(.courier, "1.0.0-rc.1"),
            node(.gateway, "1.0.0"),
        ]
        #expect(
            VersionMove(own: "1.0.0", others).steps == [
                "These processes have not version 1.0.0 yet: 1 worker of 0.8.0, 1 worker of 0.9.0, 1 courier of 1.0.0-rc.1,"
                    + " 1 gateway of 0.9.0. Replace them one by one: workers first, then couriers, then gateways."
            ])
        #expect(
            VersionMove(own: "1.0.0", [node(.gateway, "1.1.0"), node(.gateway, "1.1.0")]).steps == [
                "These processes are of a later version than this one, 1.0.0: 2 gateways of 1.1.0. To roll back,"
                    + " replace them one by one: gateways first, then couriers, then workers."
            ])
        #expect(VersionMove(own: "1.0.0", [node(.gateway, "1.0.0")]).steps.isEmpty)
        let facts = UpgradeStep.Facts(
            servers: [ServerRights(place: "a:1", load: .missing("x"), user: .sufficient, isReplica: false)],
            user: "ours",
            others: [node(.worker, "0.1.0"), node(.worker, "99.0.0")])
        let lines = UpgradeStep.report(facts)
        let numbers = lines.filter { $0.hasPrefix("upgrade") }.map { $0.prefix(20) }
        #expect(numbers == ["upgrade, step 1 of 3", "upgrade, step 2 of 3", "upgrade, step 3 of 3"])
        #expect(lines.last == "Then run this command again.")
    }

    /// The order of semver.org, section 11, and builds of one version.
    @Test func versionsAreOrderedAsTheirStandardSays() {
        let ordered = [
            "0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
            "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-rc-2", "2.0.0",
        ]
        for (left, earlier) in ordered.enumerated() {
            for (right, later) in ordered.enumerated() {
                let isEarlier = VersionNumber(earlier).isEarlier(than: VersionNumber(later))
                #expect(isEarlier == (left < right), "\(earlier) \(later)")
            }
        }
        #expect(!VersionNumber("1.0.0+next").isEarlier(than: VersionNumber("1.0.0")))
        #expect(!VersionNumber("1.0.0").isEarlier(than: VersionNumber("1.0.0+next")))
        #expect(VersionNumber("x").isEarlier(than: VersionNumber("0.1.0")))
    }

    @Test func checkFailsOnlyWhereAServerSaidThatARightIsMissing() {
        func verdicts(_ rights: LoadRights...) -> [Preflight.Verdict] {
            let loads = rights.map { ServerRights(place: "a:1", load: $0, user: .unasked, isReplica: false) }
            return Preflight.judgeLoad(loads, "ours").map(\.verdict)
        }
        #expect(verdicts(.missing("x"), .sufficient) == [.good, .wrong] && verdicts(refused) == [.doubtful])
        #expect(verdicts(.notNeeded).isEmpty)
    }

    @Test func checkFailsWhereTheUserOfGatewaysLacksARightOnAnyServer() {
        func found(_ rights: UserRights..., load: LoadRights = .notNeeded) -> [String] {
            let servers = rights.enumerated().map {
                ServerRights(place: "a:\($0)", load: load, user: $1, isReplica: $0 > 0)
            }
            return Preflight.judgeUser(servers, "ours").map(\.description)
        }
        #expect(
            found(.sufficient, .missing(["+zadd", "&*"])) == [
                "ok: the Redis user ours has the rights of a gateway on 1 server",
                "error: a:1: the Redis user ours lacks rights of a gateway: ACL SETUSER ours +zadd &*, then ACL SAVE",
            ])
        #expect(found(.unasked).first?.hasPrefix("warning: a:0 is older than Redis 7.0") == true)
        guard case .unknown(let failure) = refused else { return }
        #expect(found(.unknown(failure)).first?.hasPrefix("warning: a:0 does not say whether the Redis user") == true)
        // One line is enough about a server that says nothing.
        #expect(found(.unknown(failure), load: refused).isEmpty)
    }

    /// It passed for one whose users have all rights.
    @Test func checkFailsWhereRedisDoesNotAnswerAboutRights() {
        let usable = Preflight.Finding(.good, "Redis 7.0.15, a master")
        let broken = Preflight.Finding(.wrong, "Redis cannot be used")
        let server = ServerRights(place: "a:1", load: .notNeeded, user: .sufficient, isReplica: false)
        #expect(Preflight.silence(Preflight.Answers(findings: [usable])).map(\.verdict) == [.wrong])
        #expect(Preflight.silence(Preflight.Answers(findings: [usable, broken])).isEmpty)
        #expect(Preflight.silence(Preflight.Answers(findings: [usable], servers: [server])).isEmpty)
    }
}
