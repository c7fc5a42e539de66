extension Catalogue {
    /// The names and words that bodies use and their headers do not declare, by file and line; found without running
    /// them.
    ///
    /// A gateway starts in spite of them, since the code around a name may never run. *Complexity*: linear in all
    /// scripts' text with their parts.
    public var bodyMistakes: [ScriptProblem] {
        // Each script that includes a part is checked together with it.
        let personal = states.values.filter(\.isPersonal).map(\.descriptor)
        return BodyChecker.problems(commands + refreshes + personal, command(named:))
            .sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
    }
}
