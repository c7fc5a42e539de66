/// The answers of several parts to one question, added up: of the shards of a node, or of the nodes.
///
/// Pure. Bounded: rows beyond ``rowsMax`` are not taken.
struct FleetSum {
    private let question: FleetQuestion
    private let figures: [FleetFigure]
    private var rows: [FleetRow] = []
    private var places: [[UInt8]: Int] = [:]
    private var total = 0
    private var names = DistinctCount()
    private let ofNodes: Bool
    private(set) var isTruncated = false

    /// Rows of all parts together.
    static let rowsMax = 20_000

    init(_ question: FleetQuestion, ofNodes: Bool) {
        self.question = question
        self.ofNodes = ofNodes
        figures = question.kind.figures
    }

    /// Adds a part; rows of one key are combined.
    mutating func add(_ answer: FleetAnswer) {
        let sum = total.addingReportingOverflow(answer.total)
        total = sum.overflow ? Int.max : sum.partialValue
        names.add(answer.names)
        isTruncated = isTruncated || answer.isTruncated
        for row in answer.rows where row.figures.count == figures.count {
            if let place = places[row.key] {
                for (index, figure) in figures.enumerated() {
                    rows[place].figures[index] = figure.combined(
                        rows[place].figures[index], row.figures[index], ofNodes: ofNodes)
                }
            } else if rows.count < FleetSum.rowsMax {
                places[row.key] = rows.count
                rows.append(row)
            }
        }
    }

    /// The answer with the rows whose figure is largest, the largest first; at most `rowsMax`.
    func answer(rowsMax: Int) -> FleetAnswer {
        func rank(_ row: FleetRow) -> Int {
            row.figures.indices.contains(question.order) ? row.figures[question.order] : 0
        }
        var top = TopList<FleetRow>(capacity: rowsMax)
        for row in rows { top.offer(row, rank(row)) }
        let sorted = top.sorted.sorted { left, right in
            let (one, other) = (rank(left), rank(right))
            return one == other ? left.key.lexicographicallyPrecedes(right.key) : one > other
        }
        var answer = FleetAnswer(rows: sorted, total: question.kind.isAddedUp ? names.count : total)
        (answer.names, answer.isTruncated) = (names, isTruncated)
        return answer
    }
}
