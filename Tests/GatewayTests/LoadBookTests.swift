import FoundationEssentials
import RedisLink
import Testing

@testable import Gateway
@testable import Operations
@testable import switchboard

/// The words of a gateway about masters that could not load their own files, and their moments.
@Suite struct LoadBookTests {
    private let refused = LoadRights.unknown(RedisFailure(.noPermission))

    @Test func aMissingRightIsToldOnceWithItsMendAndItsEnd() throws {
        var book = LoadBook(user: "switchboard")
        let first = book.learned(.missing("no 'multi'"), of: "a:1", wallMs: 5)
        let line = try #require(first)
        #expect(line.isWarning && line.text.contains("could not load its own file"))
        #expect(line.fields.last?.value == "ACL SETUSER default off resetpass ~* &* +@all, then ACL SAVE")
        #expect(book.learned(.missing("no 'multi'"), of: "a:1", wallMs: 6) == nil)
        #expect(book.state.sinceMs == 5 && book.figures.map(\.canLoad) == [0])
        let last = book.learned(.sufficient, of: "a:1", wallMs: 7)
        let end = try #require(last)
        #expect(!end.isWarning && book.state == .fine() && book.figures.map(\.canLoad) == [1])
    }

    @Test func whatIsRightFromTheStartIsNoNews() {
        var book = LoadBook(user: "default")
        #expect(book.learned(.sufficient, of: "a:1", wallMs: 1) == nil)
        #expect(book.learned(.notNeeded, of: "b:1", wallMs: 1) == nil)
        #expect(book.state == .fine() && book.figures.map(\.server) == ["a:1"])
    }

    @Test func anUnansweredQuestionStandsBehindAMissingRight() {
        var book = LoadBook(user: "ours")
        _ = book.learned(refused, of: "a:1", wallMs: 1)
        #expect(book.state.mend == "ACL SETUSER ours +acl|dryrun, then ACL SAVE")
        _ = book.learned(.missing("x"), of: "b:1", wallMs: 2)
        #expect(book.state.sinceMs == 2 && book.figures.map(\.server) == ["b:1"])
        book.keep(only: ["a:1"])
        #expect(book.state.sinceMs == 1 && book.figures.isEmpty)
    }

    @Test func whoLogsInAsTheUserDefaultIsNotToldToCloseIt() {
        #expect(LoadRights.missing("x").mend(for: "default") == "ACL SETUSER default ~* &* +@all, then ACL SAVE")
        #expect(
            LoadRights.unknown(RedisFailure(.other)).mend(for: "ours")?.contains("ACL DRYRUN default MULTI") == true)
    }

    @Test func everyRowOfReadinessIsInTheDocumentation() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try String(contentsOfFile: "/" + root + "/docs/readiness.md", encoding: .utf8)
        for row in ReadinessRow.allCases { #expect(text.contains("\n| `\(row.rawValue)` | "), "\(row)") }
    }

    // check --upgrade

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
