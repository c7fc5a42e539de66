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

    /// A type with the declared types written out in place of their names.
    func writtenOut(_ type: ValueType) -> ValueType {
        type.replacing { name in
            types.first { $0.name == name }.map { writtenOut($0.value.type) } ?? .any
        }
    }

    /// Hints for the operator's scripts whose headers leave out types of an answer, an event or a state.
    static func untyped(
        _ operators: [ScriptFile], _ scripts: [CommandDescriptor], _ states: some Sequence<StateProvider>
    ) -> [ScriptProblem] {
        let own = Set(operators.map(\.path))
        var hints: [ScriptProblem] = []
        func check(_ value: DeclaredValue, _ file: ScriptFile, _ tag: String) {
            guard let member = value.untyped, own.contains(file.path) else { return }
            let message = "\(tag): \(member) has no type; write one, e.g. \(member): string (docs/scripts/types.md)"
            hints.append(ScriptProblem(file: file.path, line: 1, message: message))
        }
        for script in scripts {
            for event in script.emits { check(event.data, script.file, "@emits \(event.name)") }
            check(script.returns, script.file, "@returns")
        }
        for state in states { check(state.value, state.file, "@returns") }
        return hints.sorted { ($0.file, $0.message) < ($1.file, $1.message) }
    }
}
