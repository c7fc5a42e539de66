extension Catalogue {
    /// The declared types that a type holds, directly or through others.
    func reach(_ type: ValueType) -> Set<String> {
        var reached: Set<String> = []
        var waiting = Array(type.names)
        while let name = waiting.popLast() {
            guard reached.insert(name).inserted, let found = types.first(where: { $0.name == name }) else { continue }
            waiting += found.value.type.names
        }
        return reached
    }

    /// The type that a declared type's name stands for; any other type is itself.
    func meant(_ type: ValueType) -> ValueType {
        guard case .named(let name) = type, let found = types.first(where: { $0.name == name }) else { return type }
        return meant(found.value.type)
    }

    /// A type with the declared types written out in place of their names; ``TypeTable`` bounds how large it becomes.
    func writtenOut(_ type: ValueType) -> ValueType {
        type.replacing { name in
            types.first { $0.name == name }.map { writtenOut($0.value.type) } ?? .any
        }
    }

    /// Hints for the operator's scripts whose headers leave out types of an answer, an event or a state.
    static func untyped(
        _ operators: [ScriptFile], _ scripts: [CatalogueReader.Script], _ states: some Sequence<StateProvider>
    ) -> [ScriptProblem] {
        let own = Set(operators.map(\.path))
        var hints: [ScriptProblem] = []
        func check(_ value: DeclaredValue, _ file: ScriptFile, _ line: Int, _ tag: String) {
            guard let member = value.untyped, own.contains(file.path) else { return }
            let message = "\(tag): \(member) has no type; write one, e.g. \(member): string (docs/scripts/types.md)"
            hints.append(ScriptProblem(file: file.path, line: line, message: message))
        }
        for script in scripts {
            let (descriptor, lines) = (script.descriptor, script.lines)
            for (event, line) in zip(descriptor.emits, lines[.emits]) {
                check(event.data, descriptor.file, line, "@emits \(event.name)")
            }
            check(descriptor.returns, descriptor.file, lines.line(of: .returns), "@returns")
        }
        for state in states { check(state.value, state.file, state.valueLine, "@returns") }
        return hints.sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
    }
}
