import Core

/// One thing in an answer: a node, a topic, a session or a caller.
public struct FleetRow: Equatable, Sendable {
    /// The name of the thing; rows of one name are combined.
    public let key: [UInt8]
    /// The numbers, in the order of the kind's figures.
    public var figures: [Int]
    /// A JSON object with everything else.
    public var content: [UInt8]

    /// A row; `content` is a JSON object.
    public init(key: [UInt8], figures: [Int] = [], content: [UInt8]) {
        self.key = key
        self.figures = figures
        self.content = content
    }

    /// Appends one JSON object: the content, and the figures under their names.
    func append(to text: inout [UInt8], _ names: [FleetFigure]) {
        text.append(contentsOf: content.dropLast())
        for (figure, value) in zip(names, figures) where !figure.isHidden {
            text.append(member: figure.name, number: value)
        }
        text.append(UInt8(ascii: "}"))
    }
}

/// The answer of a shard, of a node, or of all nodes to one question.
///
/// Bounded by the question's `limit` and by ``bytesMax``. Pure.
public struct FleetAnswer: Equatable, Sendable {
    /// The rows, the largest first.
    public var rows: [FleetRow]
    /// The number of things that match, of which `rows` may be a part.
    public var total: Int
    /// Whether rows that belong here are left out, since they did not fit into a message.
    public var isTruncated = false
    /// The cause for which a part is missing; `nil` for a whole answer.
    var fault: FleetFault?
    /// The things that match, where several parts may have the same ones.
    var names = DistinctCount()

    /// Bytes of the rows of one node; further rows are left out.
    static let bytesMax = 262_144
    /// Rows of one node.
    private static let rowsMax = 2_000
    /// Values in one node's answer.
    private static let jsonLimits = JSON.Limits(depthMax: 8, elementsMax: 100_000)

    /// An answer; without arguments, one to which nothing matches.
    public init(rows: [FleetRow] = [], total: Int = 0) {
        self.rows = rows
        self.total = total
    }

    // MARK: Between nodes

    /// One JSON array: total, fault or null, whether rows are left out, hashes of names, and the rows as arrays of key,
    /// figures and content.
    var text: [UInt8] {
        var kept = rows[...]
        var left = FleetAnswer.bytesMax
        if let end = rows.firstIndex(where: { row in
            left -= row.key.count + row.content.count + 16 * (row.figures.count + 1)
            return left < 0
        }) {
            kept = rows[..<end]
        }
        var text: [UInt8] = [UInt8(ascii: "[")]
        text.append(decimal: total)
        text.append(UInt8(ascii: ","))
        if let fault { text.append(jsonString: fault.rawValue) } else { text.append(text: "null" as StaticString) }
        text.append(text: isTruncated || kept.count < rows.count ? ",true," : ",false," as StaticString)
        text.append(arrayOf: names.hashes) { $0.append(decimal: $1) }
        text.append(UInt8(ascii: ","))
        text.append(arrayOf: kept) { text, row in
            text.append(UInt8(ascii: "["))
            text.append(jsonString: row.key)
            text.append(UInt8(ascii: ","))
            text.append(arrayOf: row.figures) { $0.append(decimal: $1) }
            text.append(UInt8(ascii: ","))
            text.append(contentsOf: row.content)
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    /// Reads ``text``; `nil` for any other text.
    init?(_ text: [UInt8], _ kind: FleetQuestion.Kind) {
        guard text.count <= 2 * FleetAnswer.bytesMax,
            let document = try? JSON(parsing: text, limits: FleetAnswer.jsonLimits)
        else { return nil }
        let parts = Array(document.root.members)
        guard document.root.kind == .array, parts.count == 5, let total = parts[0].int, total >= 0,
            let isTruncated = parts[2].bool, parts[3].kind == .array, parts[4].kind == .array
        else { return nil }
        var rows: [FleetRow] = []
        for value in parts[4].members {
            guard let row = FleetRow(value, figures: kind.figures.count), rows.count < FleetAnswer.rowsMax else {
                return nil
            }
            rows.append(row)
        }
        self.init(rows: rows, total: total)
        self.isTruncated = isTruncated
        if parts[1].kind != .null {
            guard let fault = parts[1].string.flatMap({ FleetFault(rawValue: $0) }) else { return nil }
            self.fault = fault
        }
        let hashes = parts[3].members.map { $0.int ?? -1 }
        guard let names = DistinctCount(hashes: hashes) else { return nil }
        self.names = names
    }
}

extension FleetRow {
    /// Reads a row with so many figures; `nil` for any other value.
    fileprivate init?(_ value: JSON.Value, figures count: Int) {
        let parts = Array(value.members)
        guard value.kind == .array, parts.count == 3, let key = parts[0].stringBytes, key.count <= 1_024,
            parts[1].kind == .array, parts[2].kind == .object
        else { return nil }
        let figures = parts[1].members.map(\.int)
        guard figures.count == count, figures.allSatisfy({ $0 != nil && $0 ?? 0 >= 0 }) else { return nil }
        self.init(key: key, figures: figures.compactMap(\.self), content: Array(parts[2].raw))
    }
}
