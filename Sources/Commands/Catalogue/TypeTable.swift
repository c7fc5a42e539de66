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
    /// The sizes of types with all that they name written out; only of those within the bounds.
    private var sizes: [String: Int] = [:]

    /// The most types in one with all that it names written out.
    private static let sizeMax = 10_000
    /// The most types of which each names the next.
    private static let levelsMax = 64

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

    /// Puts the packs' names before the types that types name, and appends problems: unknown types, circles, and types
    /// that are too large.
    mutating func settle(_ problems: inout [ScriptProblem]) {
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let type = settled(entry.type.value.type, entry.file, entry.line, .type, &problems)
            entries[name]?.type.value.type = type
        }
        let circular = entries.sorted { $0.key < $1.key }.filter { reach($0.key).contains($0.key) }
        for (_, entry) in circular {
            problems.append(
                ScriptProblem(
                    file: entry.file.path, line: entry.line,
                    message: "@type: a value of this type would hold another of the same type"))
        }
        if circular.isEmpty { measure(&problems) }
    }

    /// Finds the sizes of all types, from those that name none upwards; two names in each of 40 types are 2^40 types.
    private mutating func measure(_ problems: inout [ScriptProblem]) {
        var waiting = entries
        for _ in 0..<TypeTable.levelsMax {
            let ready = waiting.filter { _, entry in
                entry.type.value.type.names.allSatisfy { sizes[$0] != nil || entries[$0] == nil }
            }
            for (name, entry) in ready {
                waiting[name] = nil
                let size = entry.type.value.type.size { sizes[$0] ?? 1 }
                if size <= TypeTable.sizeMax {
                    sizes[name] = size
                } else {
                    problems.append(TypeTable.tooLarge(entry.file, entry.line, .type))
                }
            }
        }
        // Those that name a type that is too large are not told, too.
        for entry in waiting.values
        where entry.type.value.type.names.allSatisfy({ sizes[$0] != nil || entries[$0] == nil }) {
            problems.append(TypeTable.tooLarge(entry.file, entry.line, .type))
        }
    }

    private static func tooLarge(_ file: ScriptFile, _ line: Int, _ tag: ScriptTag) -> ScriptProblem {
        ScriptProblem(
            file: file.path, line: line,
            message: "@\(tag.rawValue): with all types that it names written out, it has more than \(sizeMax) types "
                + "or \(levelsMax) levels of names")
    }

    /// Appends a problem when a type of the pack is named as the schema of a command's answer, `NAME.answer`.
    func check(_ command: CommandDescriptor, _ problems: inout [ScriptProblem]) {
        guard let entry = entries[command.name + ".answer"] else { return }
        problems.append(
            ScriptProblem(
                file: entry.file.path, line: entry.line,
                message: "@type: the answer of the command \(command.name) has the same name in OpenAPI, "
                    + "\(command.name).answer; choose another name"))
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
        let settled = type.replacing { .named(prefix + $0) }
        if settled.size({ sizes[$0] ?? 1 }) > TypeTable.sizeMax {
            problems.append(TypeTable.tooLarge(file, line, tag))
        }
        return settled
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
