extension Catalogue {
    /// What bodies use that their headers do not declare, by file and line; found without running them.
    ///
    /// A gateway starts all the same: a name may stand where no call comes by. *Complexity*: linear in all scripts' text
    /// with their parts.
    public var bodyMistakes: [ScriptProblem] {
        // A part is checked with each script that includes it.
        let personal = states.values.filter(\.isPersonal).map(\.descriptor)
        return BodyChecker.problems(commands + refreshes + personal)
            .sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
    }
}
