/// The lines of a header's tags, for problems with them.
struct TagLines {
    private let lines: [ScriptTag: [Int]]

    init(_ tags: [HeaderTag]) {
        lines = Dictionary(grouping: tags, by: \.tag).mapValues { $0.map(\.line) }
    }

    /// The lines of all tags of a name, in their order.
    subscript(tag: ScriptTag) -> [Int] { lines[tag] ?? [] }

    /// The line of a tag that a header has once; the last of several, and 1 when the header has none of them.
    func line(of tags: ScriptTag...) -> Int { tags.compactMap { self[$0].last }.max() ?? 1 }
}
