/// The lines of the screen for a report, the operator's choices, and a size.
///
/// Pure. No line is wider than the screen, and there are never more than it has rows.
struct TopFrame {
    /// The lines, from the top.
    private(set) var lines: [TopLine] = []
    /// Rows of the chosen list on the screen.
    private(set) var page = 0
    /// The largest useful first row of the chosen list.
    private(set) var scrollMax = 0

    /// The least rows of the nodes above another list.
    private static let nodesMin = 3
    /// Lines about nodes that are missing.
    private static let missingMax = 4

    /// Makes the frame of a terminal; `source` is the address of Redis without its password.
    init(_ report: TopReport, _ view: TopView, source: String, size: TopSize) {
        let width = max(1, size.columns)
        var head = TopFrame.summary(report, source: source, isPaused: view.isPaused, width: width)
        head += TopFrame.troubles(report, linesMax: TopFrame.missingMax, width: width)
        let body = max(0, size.rows - head.count - 1)
        lines = view.isHelp ? Array(head.prefix(1)) : head
        if view.isHelp {
            lines += TopFrame.help.map { TopLine(TopText.head($0, width)) }.prefix(max(0, size.rows - 2))
        } else if view.pane == .nodes {
            list(.nodes, report, view, rows: body, width: width)
        } else {
            let nodes = report.rows[.nodes]?.count ?? 0
            let share = min(nodes, max(TopFrame.nodesMin, body / 3))
            // Both lists have a heading, and the second one a title.
            if body >= share + 6 { abridged(report, view, rows: share, width: width) }
            list(view.pane, report, view, rows: max(0, size.rows - lines.count - 1), width: width)
        }
        while lines.count < size.rows - 1 { lines.append(TopLine("")) }
        lines.append(TopLine(TopText.fit(TopFrame.keys(view), to: width), .heading))
        lines = Array(lines.prefix(max(0, size.rows)))
    }

    /// All lists below each other, for a text that no terminal bounds; at most `rowsMax` rows of each but the nodes.
    static func text(_ report: TopReport, source: String, rowsMax: Int, width: Int) -> [String] {
        var lines = summary(report, source: source, isPaused: false, width: width).map(\.text)
        lines += troubles(report, linesMax: Int.max, width: width).map(\.text)
        for pane in TopPane.allCases {
            let all = sorted(pane, report, pane.orderAtStart)
            let rows = pane == .nodes ? all : Array(all.prefix(rowsMax))
            lines.append("")
            if pane != .nodes { lines.append(title(pane, report, pane.orderAtStart, shown: 0..<rows.count)) }
            guard !rows.isEmpty || pane == .nodes else {
                lines.append(pane.nothing)
                continue
            }
            let table = TopTable(pane.columns, rows.map(\.texts), width: width)
            lines += ([table.heading] + table.lines).map { TopLine($0).text }
        }
        return lines
    }

    // MARK: The head

    private static func summary(_ report: TopReport, source: String, isPaused: Bool, width: Int) -> [TopLine] {
        let stale = report.trouble != nil && !report.time.isEmpty ? "as of " : ""
        let time = report.time.isEmpty ? "no answer yet" : stale + report.time + " UTC"
        let title = "switchboard top  \(time)  " + (isPaused ? "paused  " : "") + TopText.clean(source)
        var nodes = ["gateways \(report.gateways)"]
        if report.missing.count > 0 { nodes.append("missing \(report.missing.count)") }
        nodes += ["workers \(report.count(of: "worker"))", "couriers \(report.count(of: "courier"))"]
        let traffic = [
            "connections \(TopNumber.count(report.connections))",
            "deliveries \(TopNumber.rate(report.sum(\.messagesOut)))/s",
            "publishes \(TopNumber.rate(report.sum(\.publishes)))/s",
            "refusals \(TopNumber.rate(report.sum(\.refusals)))/s",
            "slow closes \(TopNumber.rate(report.sum(\.slowCloses)))/s",
        ]
        var redis = ["redis \(TopNumber.microseconds(report.redis.latencyUs))"]
        let bound = report.redis.boundBytes.map { " of " + TopNumber.bytes($0) } ?? ""
        redis.append("memory \(report.redis.usedBytes.map(TopNumber.bytes) ?? "-")\(bound)")
        let oldest = report.outbox?.oldestSeconds.map { $0 > 0 ? ", oldest " + TopNumber.seconds($0) : "" } ?? ""
        redis.append("outbox \(report.outbox?.waiting.map(TopNumber.count) ?? "-")\(oldest)")
        redis.append("dead letters \(TopNumber.count(report.dead))")
        let facts = TopText.lines(of: nodes + traffic, width) + TopText.lines(of: redis, width)
        return [TopLine(TopText.head(title, width))] + facts.map { TopLine($0) }
    }

    private static func troubles(_ report: TopReport, linesMax: Int, width: Int) -> [TopLine] {
        var lines = report.missing + report.gone
        if lines.count > linesMax {
            lines = Array(lines.prefix(linesMax - 1)) + ["and \(lines.count - linesMax + 1) more"]
        }
        if let trouble = report.trouble { lines.insert(trouble, at: 0) }
        return lines.map { TopLine(TopText.head($0, width), .warning) }
    }

    // MARK: Lists

    private static func sorted(_ pane: TopPane, _ report: TopReport, _ order: Int) -> [TopRow] {
        (report.rows[pane] ?? []).sorted { left, right in
            let one = left.numbers.indices.contains(order) ? left.numbers[order] : 0
            let other = right.numbers.indices.contains(order) ? right.numbers[order] : 0
            return one == other ? left.texts.lexicographicallyPrecedes(right.texts) : one > other
        }
    }

    private static func title(_ pane: TopPane, _ report: TopReport, _ order: Int, shown: Range<Int>) -> String {
        let all = max(report.totals[pane] ?? 0, shown.upperBound)
        let part = shown.isEmpty ? "" : ", \(shown.lowerBound + 1) to \(shown.upperBound) of \(TopNumber.count(all))"
        return "\(pane.title) by \(pane.orders[order])\(part)"
    }

    /// The first nodes, above another list.
    private mutating func abridged(_ report: TopReport, _ view: TopView, rows count: Int, width: Int) {
        let all = TopFrame.sorted(.nodes, report, view.orderPlace(.nodes))
        let isCut = all.count > count
        append(TopPane.nodes, Array(all.prefix(isCut ? max(0, count - 1) : count)), width: width)
        if isCut {
            lines.append(TopLine(TopText.head("and \(all.count - max(0, count - 1)) more: press n", width)))
        }
        lines.append(TopLine(""))
    }

    /// A list that may be scrolled, in so many lines.
    private mutating func list(_ pane: TopPane, _ report: TopReport, _ view: TopView, rows count: Int, width: Int) {
        let all = TopFrame.sorted(pane, report, view.orderPlace(pane))
        page = max(0, count - (pane == .nodes ? 1 : 2))
        scrollMax = max(0, all.count - page)
        let first = min(view.scroll, scrollMax)
        let shown = first..<min(all.count, first + page)
        if pane != .nodes {
            let group = pane == .talkers ? " (\(view.group))" : ""
            let title = TopFrame.title(pane, report, view.orderPlace(pane), shown: shown) + group
            lines.append(TopLine(TopText.head(title, width)))
        }
        append(pane, Array(all[shown]), width: width)
        if all.isEmpty, pane != .nodes { lines.append(TopLine(TopText.head(pane.nothing, width))) }
    }

    private mutating func append(_ pane: TopPane, _ rows: [TopRow], width: Int) {
        let table = TopTable(pane.columns, rows.map(\.texts), width: width)
        lines.append(TopLine(TopText.fit(table.heading, to: width), .heading))
        for (row, text) in zip(rows, table.lines) { lines.append(TopLine(text, row.isWarning ? .warning : .plain)) }
    }

    // MARK: Keys

    private static func keys(_ view: TopView) -> String {
        let order = "o order: " + view.pane.orders[view.orderPlace(view.pane)]
        return "q quit  ? help  n t s k d list  \(order)  p \(view.isPaused ? "go on" : "pause")"
    }

    private static let help = [
        "",
        "  q        quit",
        "  n        nodes",
        "  t        topics with most members, events or bytes",
        "  s        sessions that read too slowly",
        "  k        talkers: who asks most; b takes another group",
        "  d        queues in Redis, and dead letters",
        "  o        the next order of the list",
        "  arrows   scroll; also PgUp, PgDn, Home, End",
        "  p        pause, and go on",
        "  ?        this text, and back",
        "",
        "  STATE    ready, draining, or the first reason why not",
        "  IN/s     messages of clients",
        "  OUT/s    events handed to members",
        "  CPU      100% is one processor",
        "  LAG      99 of 100 ticks of its loops took at most this",
        "  SLOW     clients closed for reading too slowly",
    ]
}
