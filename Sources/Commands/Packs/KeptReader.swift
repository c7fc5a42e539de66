import Core

/// Reads `keeps` of a `pack.json`: the data that stay after a user's erasure.
struct KeptReader {
    private(set) var rows: [Kept] = []
    private(set) var problems: [ScriptProblem] = []

    private let path: String

    /// The most rows of one pack.
    static let rowsMax = 64
    /// The most bytes of one text.
    static let textBytesMax = 300
    private static let fields = ["keys", "what", "until"]
    private static let limits = JSON.Limits(depthMax: 16, elementsMax: 10_000)

    /// Reads the text of a pack's file; `path` is its name in messages.
    ///
    /// Text that is no JSON object is ignored here; ``RouteErrorsReader`` reports it.
    init(_ bytes: [UInt8], path: String) {
        self.path = path
        guard let json = try? JSON(parsing: bytes, limits: KeptReader.limits), json.root.kind == .object,
            let list = json.root["keeps"]
        else { return }
        read(list)
    }

    private mutating func read(_ list: JSON.Value) {
        guard list.kind == .array else { return problem(list, "keeps: expected an array of objects") }
        for (index, value) in list.members.enumerated() { read(value, "keeps[\(index)]") }
        if rows.count > KeptReader.rowsMax { problem(list, "keeps: a pack may have \(KeptReader.rowsMax) rows") }
    }

    private mutating func problem(_ value: JSON.Value, _ message: String) {
        problems.append(ScriptProblem(file: path, line: value.line, message: message))
    }

    private mutating func read(_ value: JSON.Value, _ place: String) {
        guard value.kind == .object else { return problem(value, place + ": expected an object") }
        for member in value.members where !KeptReader.fields.contains(member.name) {
            problem(member, place + ": unknown key" + NearestName.hint(KeptReader.fields, to: member.name))
        }
        let texts = KeptReader.fields.compactMap { name in
            value[name]?.string.flatMap { 1...KeptReader.textBytesMax ~= $0.utf8.count ? $0 : nil }
        }
        guard texts.count == KeptReader.fields.count else {
            let most = KeptReader.textBytesMax
            return problem(value, place + ": expected keys, what and until, texts of at most \(most) bytes")
        }
        rows.append(Kept(keys: texts[0], what: texts[1], until: texts[2]))
    }
}
