/// Why there is no catalogue: everything that is wrong with the scripts, by file and line.
public struct CatalogueFailure: Error, Equatable, Sendable {
    /// The problems; at least one.
    public let problems: [ScriptProblem]
}
