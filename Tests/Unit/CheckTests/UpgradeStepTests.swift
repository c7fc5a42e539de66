import RedisLink
import Testing

@testable import switchboard

/// The steps that `check` prints for servers that could not load their own files.
@Suite struct UpgradeStepTests {
    private let refused = LoadRights.unknown(RedisFailure(.noPermission))

    @Test func onlyServersThatNeedAStepAreNamedAndWordsAreQuotedForAShell() {
        let servers = [
            ServerLoad(place: "10.0.0.21:6379", rights: .missing("x"), isReplica: false),
            ServerLoad(place: "[fd00::2]:6380", rights: refused, isReplica: true),
            ServerLoad(place: "/run/redis.sock", rights: .missing("x"), isReplica: false),
            ServerLoad(place: "10.0.0.23:6379", rights: .sufficient, isReplica: true),
        ]
        let text = UpgradeStep.report(UpgradeStep.Facts(servers: servers, user: "it's")).joined(separator: "\n")
        let client = "  redis-cli -h 10.0.0.21 -p 6379 --user operator --askpass "
        #expect(text.contains(client + "ACL SETUSER default off resetpass '~*' '&*' +@all\n" + client + "ACL SAVE\n"))
        #expect(text.contains("-s /run/redis.sock --user operator"))
        #expect(text.contains("-h fd00::2 -p 6380 --user operator --askpass ACL SETUSER 'it'\\''s' '+acl|dryrun'"))
        #expect(text.contains("step 2 of 2") && !text.contains("10.0.0.23"))
    }

    @Test func nothingIsDueWhereEverythingIsRight() {
        let server = ServerLoad(place: "a:1", rights: .sufficient, isReplica: false)
        #expect(
            UpgradeStep.report(UpgradeStep.Facts(servers: [server], user: "ours")) == [
                "upgrade: nothing is to be changed"
            ])
    }

    @Test func checkFailsOnlyWhereAServerSaidThatARightIsMissing() {
        func verdicts(_ rights: LoadRights...) -> [Preflight.Verdict] {
            let loads = rights.map { ServerLoad(place: "a:1", rights: $0, isReplica: false) }
            return Preflight.judge(loads, user: "ours").map(\.verdict)
        }
        #expect(verdicts(.missing("x"), .sufficient) == [.good, .wrong] && verdicts(refused) == [.doubtful])
        #expect(verdicts(.notNeeded).isEmpty)
    }
}
