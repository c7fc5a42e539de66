/// Results as text for a terminal: a block for each load, a line for each target, at most 100 columns.
struct ResultTable {
    let groups: [RunGroup]

    static let columnsMax = 100

    init(_ runs: [BenchResult]) {
        groups = RunGroup.groups(runs)
    }

    /// All blocks, each ended by an empty line.
    func text(_ style: TextStyle = .plain) -> String {
        groups.map { ResultTable.block($0, style) + "\n" }.joined()
    }

    /// A cell; a bad one stands out by its sign as well as by its colour.
    private struct Cell {
        var text: String
        var isBad = false
    }

    /// A column: name and unit, and each run's cell.
    private struct Column {
        let name: String
        let unit: String
        let cells: [Cell]

        var width: Int {
            max(name.count, unit.count, cells.map(\.text.count).max() ?? 0)
        }
    }

    private static func block(_ group: RunGroup, _ style: TextStyle) -> String {
        var out = style.bold(plain(group.scenario, limit: 40)) + "  " + style.faint(group.title) + "\n\n"
        let names = group.runs.map { plain($0.name, limit: 24) }
        let nameColumns = max(names.map(\.count).max() ?? 0, 6)
        for band in bands(columns(group), room: columnsMax - nameColumns - 4) {
            let head = band.map { padded($0.name, to: $0.width) }.joined(separator: "  ")
            let units = band.map { padded($0.unit, to: $0.width) }.joined(separator: "  ")
            let blank = String(repeating: " ", count: nameColumns + 4)
            out += style.faint(blank + head) + "\n" + style.faint(blank + units) + "\n"
            for (row, run) in group.runs.enumerated() {
                let sign = run.passed ? style.good("✓") : style.bad("✗")
                let name = names[row] + String(repeating: " ", count: nameColumns - names[row].count)
                let cells = band.map { column in
                    let cell = column.cells[row]
                    let text = padded(cell.text, to: column.width)
                    return cell.isBad ? style.bad(text) : text
                }
                out += sign + " " + style.bold(name) + "  " + cells.joined(separator: "  ") + "\n"
            }
            out += "\n"
        }
        let lines = group.runs.flatMap { remarks($0, style) }
        return lines.isEmpty ? String(out.dropLast()) : out + lines.joined(separator: "\n") + "\n"
    }

    /// Remarks that the figures do not show by themselves, losses first.
    private static func remarks(_ run: BenchResult, _ style: TextStyle) -> [String] {
        let name = plain(run.name, limit: 24)
        var lines: [String] = []
        if let lost = run.lost, lost > 0 {
            let of = run.expected.map { " of \(Figure.whole($0))" } ?? ""
            lines.append(style.bad("! \(name) LOST \(Figure.whole(lost))\(of) deliveries"))
        }
        lines += run.notes.map { note in
            let text = "\(name): \(plain(note, limit: 300))"
            return run.passed ? "  " + text : style.bad("! " + text)
        }
        if !run.passed, lines.isEmpty { lines.append(style.bad("! \(name) failed")) }
        return lines
    }

    /// Cuts the columns into pieces that fit beside the names.
    private static func bands(_ columns: [Column], room: Int) -> [[Column]] {
        var bands: [[Column]] = []
        var left = 0
        for column in columns {
            if bands.isEmpty || left < column.width + 2 {
                bands.append([])
                left = room + 2
            }
            bands[bands.count - 1].append(column)
            left -= column.width + 2
        }
        return bands
    }

    /// The columns for which any run has figures.
    private static func columns(_ group: RunGroup) -> [Column] {
        let floor = group.floor
        var columns: [Column] = []
        func add(_ name: String, _ unit: String, _ figure: (BenchResult) -> String?) {
            let texts = group.runs.map(figure)
            guard texts.contains(where: { $0 != nil }) else { return }
            columns.append(Column(name: name, unit: unit, cells: texts.map { Cell(text: $0 ?? "-") }))
        }
        func addFaults(_ name: String, showsNone: Bool = false, _ number: KeyPath<BenchResult, Int?>) {
            let numbers = group.runs.map { $0[keyPath: number] }
            guard numbers.contains(where: { ($0 ?? 0) > 0 || showsNone && $0 != nil }) else { return }
            let cells = numbers.map { number in
                Cell(
                    text: number.map { ($0 > 0 ? "!" : "") + Figure.rounded(Double($0)) } ?? "-",
                    isBad: (number ?? 0) > 0)
            }
            columns.append(Column(name: name, unit: "", cells: cells))
        }
        func addLatency(_ name: String, _ latency: KeyPath<BenchResult, LatencyFigures?>, isWhole: Bool) {
            func ms(_ us: Int?) -> String? {
                us.map { $0 < 9_999_500 ? Figure.short(Double($0) / 1_000) : Figure.rounded(Double($0) / 1_000) }
            }
            add(name + "p50", "ms") { ms($0[keyPath: latency]?.p50Us) }
            add(name + "p99", "ms") { ms($0[keyPath: latency]?.p99Us) }
            guard isWhole else { return }
            add(name + "p99.9", "ms") { ms($0[keyPath: latency]?.p999Us) }
            add(name + "max", "ms") { ms($0[keyPath: latency]?.maxUs) }
        }
        add("rate", "1/s") { $0.highestRate.map(Figure.whole) }
        add("delivered", "1/s") { $0.deliveriesPerSecond.map { Figure.rounded($0) } }
        add("acks", "1/s") { $0.acknowledgedPerSecond.map { Figure.rounded($0) } }
        addFaults("lost", showsNone: true, \.lost)
        addLatency("", \.latency, isWhole: true)
        add("CPU/dlv", "µs") { $0.server?.cpuUsPerDelivery.map(Figure.short) }
        if floor != nil, group.runs.count > 1 {
            add("× floor", "") { $0.cpuPerDelivery(over: floor).map(Figure.short) }
        }
        if !group.runs.contains(where: { $0.server?.cpuUsPerDelivery != nil }) {
            add("CPU/publish", "µs") { $0.server?.cpuUsPerPublish.map(Figure.short) }
        }
        add("sent/dlv", "B") { $0.bytesPerDelivery.map { Figure.rounded($0) } }
        add("encoded", "/event") { $0.encodingsPerPublish.map { Figure.fixed($0, 2) } }
        add("server", "cores") { $0.server.map { Figure.fixed($0.cores, 2) } }
        add("tool", "cores") { $0.toolCores.map { Figure.fixed($0, 2) } }
        add("redis", "cores") { $0.redisCores.map { Figure.fixed($0, 2) } }
        addFaults("twice", \.duplicates)
        addFaults("reordered", \.reordered)
        addFaults("refused", \.refused)
        addFaults("refused clients", \.refusedClients)
        add("memory/conn", "kB") { $0.server?.privateBytesPerConnection.map { Figure.short(Double($0) / 1_000) } }
        add("set-up CPU", "µs") { $0.server?.cpuUsPerConnection.map(Figure.short) }
        add("handshakes", "1/s") { $0.handshakesPerSecond.map { Figure.rounded($0) } }
        addLatency("connect ", \.connect, isWhole: false)
        if !group.runs.contains(where: { $0.latency != nil }) {
            addLatency("answer ", \.publishAnswer, isWhole: false)
        }
        return columns
    }

    /// The text, right-aligned in so many columns.
    static func padded(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(columns - text.count, 0)) + text
    }

    /// Text of a file as one line without control characters, which could drive the terminal.
    static func plain(_ text: String, limit: Int) -> String {
        let clean = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: Character("?")
            default: Character(scalar)
            }
        }
        return clean.count <= limit ? String(clean) : String(clean.prefix(limit - 1)) + "…"
    }
}
