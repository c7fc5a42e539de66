/// The answers of several parts to one question, added up.
///
/// Pure. Bounded: rows beyond ``rowsMax`` are not taken.
struct FleetSum {
    private let question: FleetQuestion
    private let figures: [FleetFigure]
    private var rows: [FleetRow] = []
    private var places: [[UInt8]: Int] = [:]
    private var total = 0

    /// Rows of all parts together.
    static let rowsMax = 20_000

    init(_ question: FleetQuestion) {
        self.question = question
        figures = question.kind.figures
    }

    /// Adds a part; rows of one key are combined.
    mutating func add(_ answer: FleetAnswer) {
        let sum = total.addingReportingOverflow(answer.total)
        total = sum.overflow ? Int.max : sum.partialValue
        for row in answer.rows where row.figures.count == figures.count {
            if let place = places[row.key] {
                for (index, figure) in figures.enumerated() {
                    rows[place].figures[index] = figure.combined(rows[place].figures[index], row.figures[index])
                }
            } else if rows.count < FleetSum.rowsMax {
                places[row.key] = rows.count
                rows.append(row)
            }
        }
    }

    /// The answer with the rows whose figure is largest, the largest first; at most `rowsMax`.
    func answer(rowsMax: Int, isPartial: Bool) -> FleetAnswer {
        func rank(_ row: FleetRow) -> Int {
            row.figures.indices.contains(question.order) ? row.figures[question.order] : 0
        }
        var top = TopList<FleetRow>(capacity: rowsMax)
        for row in rows { top.offer(row, rank(row)) }
        let sorted = top.sorted.sorted { left, right in
            let (one, other) = (rank(left), rank(right))
            return one == other ? left.key.lexicographicallyPrecedes(right.key) : one > other
        }
        return FleetAnswer(rows: sorted, total: total, isPartial: isPartial)
    }
}
