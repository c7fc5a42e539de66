/// Rows under headings, fitted to a width.
///
/// Pure.
struct TopTable {
    private let columns: [TopColumn]
    private let rows: [[String]]
    /// The shown columns by their place, each with its width.
    private let shown: [(place: Int, width: Int)]

    /// Takes cleaned texts, one for each column and row; `columns` on the screen are not exceeded.
    init(_ columns: [TopColumn], _ rows: [[String]], width: Int) {
        self.columns = columns
        self.rows = rows
        let ranked = columns.indices.sorted { (columns[$0].rank, $0) < (columns[$1].rank, $1) }
        var (left, widths) = (width, [Int: Int]())
        for place in ranked {
            let needed = columns[place].width + (widths.isEmpty ? 0 : 1)
            guard needed <= left else { break }
            left -= needed
            widths[place] = columns[place].width
        }
        // Room that is left goes to the texts, first to those that matter most.
        for place in ranked where columns[place].isText {
            guard let least = widths[place] else { continue }
            let widest = rows.map { TopText.width($0[place]) }.max() ?? 0
            let more = min(left, max(0, widest - least))
            left -= more
            widths[place] = least + more
        }
        shown = widths.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The names of the columns.
    var heading: String { line(columns.map(\.title)) }

    /// The rows, in their order.
    var lines: [String] { rows.map(line) }

    private func line(_ texts: [String]) -> String {
        shown.map { TopText.fit(texts[$0.place], to: $0.width, isRight: !columns[$0.place].isText) }
            .joined(separator: " ")
    }
}
