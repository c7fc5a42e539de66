/// The line that tells how a run goes while it goes: what is known at this second, at most 100 columns.
struct ProgressText {
    /// What is being done: `connect`, `warm up`, `measure`.
    var phase = "measure"
    var elapsedSeconds: Double
    var totalSeconds: Double
    var connections: Int
    /// Of the last second.
    var publishedPerSecond: Double?
    var deliveredPerSecond: Double?
    var p50Us: Int?
    var p99Us: Int?
    /// Since the measuring began.
    var lost = 0
    var serverCores: Double?
    var toolCores: Double?

    private static let barColumns = 10

    /// The line as it is put on the output: over the last one on a terminal, else as a line of its own.
    func drawn(_ style: TextStyle) -> String {
        style.isTerminal ? "\r\u{1B}[K" + line(style) : line(style) + "\n"
    }

    /// What ends the drawing: an empty line of the terminal, for the table.
    static func erased(_ style: TextStyle) -> String {
        style.isTerminal ? "\r\u{1B}[K" : ""
    }

    func line(_ style: TextStyle = .plain) -> String {
        let total = Figure.whole(Int(totalSeconds.rounded()))
        let elapsed = Figure.whole(Int(min(elapsedSeconds, totalSeconds).rounded(.down)))
        var parts = [phase + " " + ResultTable.padded(elapsed, to: total.count) + "/" + total + " s " + bar(style)]
        parts.append(Figure.rounded(Double(connections)) + " conns")
        if let publishedPerSecond { parts.append(Figure.rounded(publishedPerSecond) + " pub/s") }
        if let deliveredPerSecond { parts.append(Figure.rounded(deliveredPerSecond) + " dlv/s") }
        if let p50Us { parts.append("p50 " + Figure.latency(p50Us)) }
        if let p99Us { parts.append("p99 " + Figure.latency(p99Us)) }
        if lost > 0 { parts.append(style.bad("LOST " + Figure.whole(lost))) }
        let cores = [serverCores.map { "srv " + Figure.fixed($0, 2) }, toolCores.map { "tool " + Figure.fixed($0, 2) }]
            .compactMap { $0 }
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
