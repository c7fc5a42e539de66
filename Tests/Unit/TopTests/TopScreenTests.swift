import Core
import Testing

@testable import Top

/// The bytes for terminals of different abilities, and for programs.
struct TopScreenTests {
    private static func screen(_ variables: [String: String], isTerminal: Bool = true) -> TopScreen {
        TopScreen(isTerminal: isTerminal) { variables[$0] }
    }

    private static let lines = [TopLine("NODE", .heading), TopLine("josé 김"), TopLine("trouble", .warning)]

    private static func text(_ screen: TopScreen) -> String { String(decoding: screen.bytes(lines), as: UTF8.self) }

    @Test func troublesHaveAColourUnlessItIsUnwanted() {
        let variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]
        #expect(TopScreenTests.text(TopScreenTests.screen(variables)).contains("\u{1b}[1;31mtrouble"))
        let plain = TopScreenTests.text(TopScreenTests.screen(variables.merging(["NO_COLOR": "1"]) { $1 }))
        #expect(!plain.contains("31m") && plain.contains("\u{1b}[1mtrouble") && plain.contains("\u{1b}[7mNODE"))
    }

    @Test(arguments: [["TERM": "dumb"], [:], ["TERM": ""]])
    func aDumbTerminalGetsNoSequence(variables: [String: String]) {
        let screen = TopScreenTests.screen(variables)
        #expect(!TopScreenTests.text(screen).contains("\u{1b}") && screen.enter.isEmpty && screen.leave.isEmpty)
        #expect(TopScreenTests.screen(["TERM": "xterm"], isTerminal: false).enter.isEmpty)
    }

    /// A byte of a UTF-8 letter, as 0x9b, is a control character of a terminal with 8-bit characters.
    @Test func aTerminalWithoutUTF8GetsASCII() {
        let text = TopScreenTests.text(TopScreenTests.screen(["TERM": "xterm", "LANG": "C"]))
        #expect(text.utf8.allSatisfy { $0 < 0x80 } && text.contains("jos? ??"))
        #expect(
            TopScreenTests.text(TopScreenTests.screen(["TERM": "xterm", "LC_ALL": "C", "LANG": "en.UTF-8"])).contains(
                "jos?"))
        #expect(TopScreenTests.text(TopScreenTests.screen(["TERM": "xterm", "LANG": "en_US.utf8"])).contains("josé 김"))
    }

    @Test func theScreenIsGivenBackAsItWas() {
        let screen = TopScreenTests.screen(["TERM": "xterm"])
        for mode in ["?1049", "?25", "?7"] {
            #expect(screen.enter.contains(mode) && screen.leave.contains(mode))
        }
        #expect(screen.enter.hasPrefix("\u{1b}[?1049h") && screen.leave.hasSuffix("\u{1b}[?1049l"))
    }

    @Test func jsonIsOneLineOfASCIIWithTheSameMeaning() throws {
        var answers = TopSamples.answers(second: 0)
        answers.nodes = Array("[{\"id\":\"a\u{9b}é😀\",\n \"name\":\"\u{202e}\"}]".utf8)
        let json = answers.json
        #expect(json.allSatisfy { (0x20..<0x7f).contains($0) })
        let root = try JSON(parsing: json, limits: JSON.Limits(depthMax: 10, elementsMax: 10_000)).root
        let node = try #require(root["nodes"]?.members.first { _ in true })
        #expect(node["id"]?.string == "a\u{9b}é😀" && node["name"]?.string == "\u{202e}")
        #expect(root["unanswered"]?.members.first { _ in true }?["reason"]?.string == "not_listening")
        #expect(root["redis"]?["latencyUs"]?.int == 420)
    }
}
