public import Core

/// The settings of `test`.
public struct TestSettings: Sendable, Equatable {
    /// The directory of the pack: its scripts, and its tests.
    public var directory: String
    /// The text that a case's name must contain; `nil`: all cases.
    public var filter: String?
    /// The Redis server program: a path, or a name looked up in `PATH`.
    public var redisServer = "redis-server"
    /// The built-in packs of scripts that are served beside.
    public var packs: [String]
    /// The numbers of packs that the operator chooses.
    public var packNumbers: [String]
    /// The policy of each existing namespace.
    public var namespaces: [String: NamespacePolicy]
}

extension TestSettings {
    /// Checks the operand; `nil` with a problem recorded when it is none.
    init?(_ values: inout SettingValues, _ file: FileReader, operands: [String]) {
        guard operands.count == 1, let directory = operands.first, !directory.isEmpty else {
            let given = operands.isEmpty ? "" : "; got " + PrintableText.quoted(operands.joined(separator: " "))
            values.problem(.command("test"), "expected the directory of one pack" + given)
            return nil
        }
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        filter = values.text("filter")
        redisServer = values.text("redis-server") ?? redisServer
        packs = file.packs
        packNumbers = values.texts("pack-number")
        namespaces = file.namespaces
    }
}
