extension Catalogue {
    /// How long Redis takes at most for a call of the script of this name in the registry, microseconds: `command/vote`,
    /// `refresh/queue_refresh`, `state/shop`, `position/shop`, `publish`.
    ///
    /// Scripts that are not known weigh what is assumed of scripts whose headers do not say.
    public func weightMicroseconds(of scriptName: String) -> Int {
        weights[scriptName] ?? ScriptWeight.assumed
    }

    /// The weights by the names of the registry.
    ///
    /// A state is read together with the position it belongs to, so it weighs both.
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

    /// A hint for each script of the operator's whose header does not say its weight.
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
