public import RedisLink
import Rights

/// The assembled scripts of a catalogue with their ids in one registry.
///
/// Immutable and thread-safe.
public struct ScriptTable: Sendable {
    /// A script as calls and faults need it.
    public struct Entry: Sendable {
        /// Its id in the registry.
        public let id: ScriptID
        /// Its text, with the source of each line.
        public let source: AssembledScript
    }

    /// The registry whose scripts the links load.
    public let registry: ScriptRegistry
    private let entries: [String: Entry]

    /// Registers scripts; throws when two have the same name.
    public init(_ scripts: [AssembledScript]) throws(ScriptRegistry.RegistryError) {
        let later = Set(scripts.filter(\.isOfPack).map(\.name))
        let registry = try ScriptRegistry(scripts: scripts.map { ($0.name, $0.text) }, later: later) {
            Digest.sha1($0)
        }
        self.registry = registry
        var entries: [String: Entry] = [:]
        for script in scripts {
            entries[script.name] = registry.script(named: script.name).map { Entry(id: $0, source: script) }
        }
        self.entries = entries
    }

    /// The script of a name; `nil` when there is none.
    public subscript(name: String) -> Entry? { entries[name] }
}
