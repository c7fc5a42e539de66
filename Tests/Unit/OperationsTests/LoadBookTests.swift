import Configuration
import FoundationEssentials
import RedisLink
import Service
import TestSupport
import Testing

@testable import Operations

/// The words of a gateway about masters that could not load their own files, and their moments.
@Suite struct LoadBookTests {
    private let refused = LoadRights.unknown(RedisFailure(.noPermission))

    @Test func aMissingRightIsToldOnceWithItsMendAndItsEnd() throws {
        var book = LoadBook(user: "switchboard")
        let first = book.learned(.missing("no 'multi'"), of: "a:1", wallMs: 5)
        let line = try #require(first)
        #expect(line.level == .warn && line.text.contains("could not load its own file"))
        #expect(line.fields.last?.1 == "ACL SETUSER default off resetpass ~* &* +@all, then ACL SAVE")
        #expect(book.learned(.missing("no 'multi'"), of: "a:1", wallMs: 6) == nil)
        #expect(book.state.sinceMs == 5 && book.figures.map(\.canLoad) == [0])
        let last = book.learned(.sufficient, of: "a:1", wallMs: 7)
        let end = try #require(last)
        #expect(end.level == .info && book.state == .fine() && book.figures.map(\.canLoad) == [1])
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
        let text = try ProjectFiles.text("docs/readiness.md")
        for row in ReadinessRow.allCases { #expect(text.contains("\n| `\(row.rawValue)` | "), "\(row)") }
    }
}
