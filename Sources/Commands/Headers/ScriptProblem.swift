import Core

/// One mistake in a script's header, reported to the author.
public struct ScriptProblem: Hashable, Sendable, CustomStringConvertible {
    /// The path of the file, as ``ScriptFile/path``.
    public let file: String
    /// The line of the mistake, from 1; 1 when it concerns the whole file.
    public let line: Int
    /// The mistake and its remedy.
    public let message: String

    /// Makes a problem of a file of a pack.
    public init(file: String, line: Int, message: String) {
        (self.file, self.line, self.message) = (file, line, message)
    }

    /// One line such as `vote.lua:3: unknown tag @arq; did you mean @arg?`.
    public var description: String { PrintableText.path(file) + ":\(line): " + message }
}
