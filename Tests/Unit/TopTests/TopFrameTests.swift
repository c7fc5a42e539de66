import FoundationEssentials
import TestSupport
import Testing

@testable import Top

/// The screen at three widths against `Tests/Golden/top`; `GOLDEN=write` writes the files anew.
struct TopFrameTests {
    private static let source = "redis://127.0.0.1:6379/0"

    private static func frame(
        _ report: TopReport, keys: String = "", columns: Int, rows: Int
    ) -> (frame: TopFrame, view: TopView) {
        var view = TopView()
        var frame = TopFrame(report, view, source: source, size: TopSize(columns: columns, rows: rows))
        for key in keys {
            _ = view.press(.character(key), page: frame.page, scrollMax: frame.scrollMax)
            frame = TopFrame(report, view, source: source, size: TopSize(columns: columns, rows: rows))
        }
        return (frame, view)
    }

    private static func page(_ width: Int) -> String {
        let report = TopSamples.report
        var lines: [String] = []
        for keys in ["n", "t", "s", "k", "d", "?", "top"] {
            lines.append("=== \(keys)")
            for line in frame(report, keys: keys, columns: width, rows: 24).frame.lines {
                let mark =
                    switch line.style {
                    case .plain: "  "
                    case .heading: "# "
                    case .warning: "! "
                    }
                lines.append(mark + line.text)
            }
        }
        lines.append("=== once")
        lines += TopFrame.text(report, source: source, rowsMax: 10, width: width)
        // A heading fills its line.
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) + "\n" }.joined()
    }

    @Test(arguments: [60, 100, 160])
    func theScreenIsTheSame(width: Int) throws {
        let now = TopFrameTests.page(width)
        let path = "Tests/Golden/top/\(width).txt"
        if ProcessInfo.processInfo.environment["GOLDEN"] == "write" {
            try Data(now.utf8).write(to: URL(filePath: ProjectFiles.folder + "/" + path))
        }
        let golden = try ProjectFiles.text(path)
        for (left, right) in zip(golden.split(separator: "\n"), now.split(separator: "\n")) { #expect(left == right) }
        #expect(golden == now, "GOLDEN=write writes \(path) anew")
    }

    /// The screen fits every size: a line too wide or one too many would scroll the screen.
    @Test func aFrameFitsEveryScreen() {
        let report = TopSamples.report
        for columns in Array(0...24) + [40, 59, 60, 61, 79, 80, 100, 132, 200] {
            for rows in [0, 1, 2, 3, 5, 8, 13, 24, 60] {
                for keys in ["n", "t", "s", "k", "d", "?"] {
                    let lines = TopFrameTests.frame(report, keys: keys, columns: columns, rows: rows).frame.lines
                    let widest = lines.map { TopText.width($0.text) }.max() ?? 0
                    #expect(lines.count == rows && widest <= max(1, columns), "\(columns)x\(rows) \(keys)")
                }
            }
        }
    }

    @Test func noByteOfANameControlsTheTerminal() {
        let screen = TopScreen(isTerminal: true) { ["TERM": "xterm", "LANG": "C.UTF-8"][$0] }
        for keys in ["n", "t", "s", "k", "d"] {
            let lines = TopFrameTests.frame(TopSamples.report, keys: keys, columns: 500, rows: 60).frame.lines
            for line in lines {
                for scalar in line.text.unicodeScalars {
                    #expect(scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value))
                }
            }
            let text = String(decoding: screen.bytes(lines), as: UTF8.self)
            for harm in ["]0;title", "[2Jhost", "\u{9b}", "\u{202e}", "\u{200b}", "\u{7}"] {
                #expect(!text.contains(harm) || text.contains("?" + harm), "\(harm)")
            }
        }
    }

    @Test func aReportWithoutAnswersSaysWhy() {
        var report = TopReport()
        var answers = TopAnswers()
        answers.trouble = "Redis cannot be used: \u{1b}[31mdisconnected"
        report.take(answers)
        let lines = TopFrameTests.frame(report, columns: 80, rows: 24).frame.lines
        #expect(lines[0].text.contains("no answer yet"))
        #expect(lines.contains(TopLine("Redis cannot be used: ?[31mdisconnected", .warning)))
    }

    @Test func anOldReportStaysWhileRedisIsAway() {
        var report = TopSamples.report
        var answers = TopAnswers()
        answers.trouble = "Redis cannot be used: disconnected"
        report.take(answers)
        let lines = TopFrameTests.frame(report, columns: 100, rows: 24).frame.lines.map(\.text)
        #expect(lines[0].contains("as of "))
        #expect(lines.contains { $0.hasPrefix("Jw8_kQ2z") } && lines.contains("Redis cannot be used: disconnected"))
        report.take(TopSamples.answers(second: 4))
        #expect(!TopFrameTests.frame(report, columns: 100, rows: 24).frame.lines[0].text.contains("as of"))
    }

    @Test func aMissingNodeIsNamedWithItsMachine() {
        var report = TopSamples.report
        var answers = TopSamples.answers(second: 4)
        answers.missing = [("Jw8_kQ2z", "no_answer")]
        report.take(answers)
        #expect(report.missing[0] == "no answer of Jw8_kQ2z (web-1): it hangs, or Redis does")
        #expect(report.missing.count == 1 && report.gone == ["zZ9yX8wV has gone, 40s ago"])
    }

    @Test func malformedAnswersShowNothing() {
        for text in ["", "{", "[", "null", "[1,[],\"x\",{}]", "{\"id\":1}", String(repeating: "[", count: 100)] {
            var answers = TopSamples.answers(second: 0)
            answers.nodes = Array(text.utf8)
            answers.lists = [.topics: (Array(text.utf8), Int.max), .slow: (Array(text.utf8), -1)]
            (answers.outbox, answers.webhooks) = (Array(text.utf8), Array(text.utf8))
            var report = TopReport()
            report.take(answers)
            report.take(answers)
            #expect(report.nodes.isEmpty)
            for keys in ["n", "t", "s", "d"] {
                #expect(TopFrameTests.frame(report, keys: keys, columns: 80, rows: 24).frame.lines.count == 24)
            }
        }
    }
}
