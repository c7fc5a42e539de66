import RedisLink
import Rights
import Scripts

/// The scripts a gateway calls, assembled from the embedded files.
struct StoreScripts: Sendable {
    let registry: ScriptRegistry
    let publish: ScriptID
    let subscribe: ScriptID
    /// The subscribe scripts of the namespaces that have a state, by namespace.
    let subscribeWithState: [[UInt8]: ScriptID]
    let history: ScriptID
    let position: ScriptID

    /// The namespaces with a state provider `state_<namespace>.lua`.
    private static let stateful: [String] = Scripts.files.map(\.name).filter { $0.hasPrefix("state_") }
        .map { String($0.dropFirst("state_".count)) }

    /// Assembles the scripts; fails only when the embedded files contradict this list, which a unit test excludes.
    init() throws(ScriptRegistry.RegistryError) {
        var sources: [(name: String, source: [UInt8])] = []
        for name in ["publish", "subscribe", "history", "position"] {
            sources.append((name, Scripts.text(of: [name]) ?? []))
        }
        for namespace in StoreScripts.stateful {
            sources.append(("subscribe_" + namespace, Scripts.text(of: ["state_" + namespace, "subscribe"]) ?? []))
        }
        let registry = try ScriptRegistry(scripts: sources) { Digest.sha1($0) }
        func id(_ name: String) throws(ScriptRegistry.RegistryError) -> ScriptID {
            guard let id = registry.script(named: name) else { throw .duplicateName(name) }
            return id
        }
        self.registry = registry
        publish = try id("publish")
        subscribe = try id("subscribe")
        history = try id("history")
        position = try id("position")
        var withState: [[UInt8]: ScriptID] = [:]
        for namespace in StoreScripts.stateful { withState[Array(namespace.utf8)] = try id("subscribe_" + namespace) }
        subscribeWithState = withState
    }
}
