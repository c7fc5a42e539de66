/// The progress line of a run: the figures known at this second, at most 100 columns.
struct ProgressText {
    /// The current phase, unless it is the measuring: `connect`, `warm up`, at most 12 characters.
    var phase = ""
    var elapsedSeconds: Double
    var totalSeconds: Double
    var connections: Int
    /// Of the last second; shown as published → delivered.
    var publishedPerSecond: Double?
    var deliveredPerSecond: Double?
    var p50Us: Int?
    var p99Us: Int?
    /// Since the measuring began.
    var lost: Int?
    var serverCores: Double?
    var toolCores: Double?

    private static let barColumns = 6

    /// The line as it is written: over the last one on a terminal, else as a line of its own.
    func drawn(_ style: TextStyle) -> String {
        style.isTerminal ? "\r\u{1B}[K" + line(style) : line(style) + "\n"
    }

    /// The text that ends the drawing: an empty line of the terminal, for the table.
    static func erased(_ style: TextStyle) -> String {
        style.isTerminal ? "\r\u{1B}[K" : ""
    }

    func line(_ style: TextStyle = .plain) -> String {
        let total = Figure.whole(Int(totalSeconds.rounded()))
        let elapsed = Figure.whole(Int(min(elapsedSeconds, totalSeconds).rounded(.down)))
        var parts = [ResultTable.padded(elapsed, to: total.count) + "/" + total + " s " + bar(style)]
        if !phase.isEmpty { parts.append(ResultTable.plain(phase, limit: 12)) }
        parts.append(Figure.rounded(Double(connections)) + " conn")
        let flow = [publishedPerSecond, deliveredPerSecond].compactMap { $0 }.map { Figure.rounded($0) + "/s" }
        if !flow.isEmpty { parts.append(flow.joined(separator: " → ")) }
        let latencies = [("p50", p50Us), ("p99", p99Us)].compactMap { name, us in
            us.map { name + " " + Figure.short(Double($0) / 1_000) }
        }
        if !latencies.isEmpty { parts.append(latencies.joined(separator: " ") + " ms") }
        if let lost {
            let text = Figure.rounded(Double(lost))
            parts.append(lost > 0 ? style.bad("LOST " + text) : "lost " + text)
        }
        let cores = [("srv", serverCores), ("tool", toolCores)].compactMap { name, cores in
            cores.map { name + " " + Figure.fixed($0, 2) }
        }
        if !cores.isEmpty { parts.append(style.faint(cores.joined(separator: " "))) }
        return parts.joined(separator: "  ")
    }

    private func bar(_ style: TextStyle) -> String {
        let share = totalSeconds > 0 ? min(max(elapsedSeconds / totalSeconds, 0), 1) : 0
        let full = Int(share * Double(ProgressText.barColumns))
        return style.good(String(repeating: "━", count: full))
            + style.faint(String(repeating: "┄", count: ProgressText.barColumns - full))
    }
}
