extension Catalogue {
    /// The most time that Redis needs for a call of a script, in microseconds.
    ///
    /// The script is named as in the registry: `command/vote`, `refresh/queue_refresh`, `state/shop`, `position/shop`,
    /// `publish`. For an unknown script this is ``ScriptWeight/assumed``, as for a header without a weight.
    public func weightMicroseconds(of scriptName: String) -> Int {
        weights[scriptName] ?? ScriptWeight.assumed
    }

    /// The weights in microseconds, by the scripts' names in the registry.
    ///
    /// A state is read together with the topic's position, so its weight includes both.
    static func table(
        _ scripts: [CommandDescriptor], _ states: some Sequence<StateProvider>, _ plain: [String: Int]
    ) -> [String: Int] {
        var weights = plain
        for script in scripts { weights[script.scriptName] = script.weightMicroseconds }
        for state in states {
            weights[state.scriptName] = (plain["subscribe"] ?? ScriptWeight.assumed) + state.weightMicroseconds
            weights[state.positionName] = (plain["position"] ?? ScriptWeight.assumed) + state.weightMicroseconds
        }
        return weights
    }

    /// Hints for the operator's scripts whose headers do not declare a weight.
    static func unweighed(
        _ operators: [ScriptFile], _ scripts: [CommandDescriptor], _ states: some Sequence<StateProvider>
    ) -> [ScriptProblem] {
        let own = Set(operators.map(\.path))
        let silent =
            scripts.filter { !$0.isWeightDeclared }.map(\.file) + states.filter { !$0.isWeightDeclared }.map(\.file)
        return silent.filter { own.contains($0.path) }.sorted { $0.path < $1.path }.map { file in
            ScriptProblem(
                file: file.path, line: 1,
                message:
                    "no @weight: \(ScriptWeight.assumed) is assumed; measure a call at the script's limits and say "
                    + "its microseconds")
        }
    }
}
