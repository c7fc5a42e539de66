/// The failure to make a catalogue: every problem of the scripts, by file and line.
public struct CatalogueFailure: Error, Equatable, Sendable {
    /// The problems; at least one.
    public let problems: [ScriptProblem]
}
