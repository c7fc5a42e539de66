import Core

/// The types that headers declare by `@type`; a type may be named in every header of its pack.
struct TypeTable {
    private struct Entry {
        var type: NamedType
        let file: ScriptFile
        let line: Int
    }

    /// The types by their names with the pack's in front.
    private var entries: [String: Entry] = [:]

    /// The types in name order.
    var all: [NamedType] { entries.keys.sorted().compactMap { entries[$0]?.type } }

    /// Notes the types of a header, and appends its problems.
    mutating func add(_ header: ScriptHeader, _ problems: inout [ScriptProblem]) {
        for tag in header.tags {
            guard case .type(var type) = tag.value else { continue }
            let name = type.name
            type.name = TypeTable.qualified(name, header.file)
            if let other = entries[type.name] {
                problems.append(
                    ScriptProblem(
                        file: header.file.path, line: tag.line,
                        message: "@type: \(name) is declared on \(other.file.path):\(other.line)"))
            } else {
                entries[type.name] = Entry(type: type, file: header.file, line: tag.line)
            }
        }
    }

    /// Puts the packs' names before the types that types name, and appends problems: unknown types, and circles.
    mutating func settle(_ problems: inout [ScriptProblem]) {
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let type = settled(entry.type.value.type, entry.file, entry.line, .type, &problems)
            entries[name]?.type.value.type = type
        }
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) where reach(name).contains(name) {
            problems.append(
                ScriptProblem(
                    file: entry.file.path, line: entry.line,
                    message: "@type: a value of this type would hold another of the same type"))
        }
    }

    /// A type of a header with the pack's name before each declared type that it names.
    func settled(
        _ type: ValueType, _ file: ScriptFile, _ line: Int, _ tag: ScriptTag, _ problems: inout [ScriptProblem]
    ) -> ValueType {
        let names = type.names
        guard !names.isEmpty else { return type }
        let prefix = TypeTable.qualified("", file)
        for name in names.sorted() where entries[prefix + name] == nil {
            let known = entries.values.filter { $0.file.pack == file.pack }.map { $0.type.name.dropFirst(prefix.count) }
            let hint = NearestName.hint((known.map { String($0) } + ValueType.words).sorted(), to: name)
            problems.append(
                ScriptProblem(
                    file: file.path, line: line, message: "@\(tag.rawValue): there is no type \(name)" + hint))
        }
        return type.replacing { .named(prefix + $0) }
    }

    /// The types that a type holds, directly or through others.
    private func reach(_ name: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            for other in entries[next]?.type.value.type.names ?? [] where reached.insert(other).inserted {
                waiting.append(other)
            }
        }
        return reached
    }

    private static func qualified(_ name: String, _ file: ScriptFile) -> String {
        file.pack.isEmpty ? name : file.pack + "." + name
    }
}
