import Commands
import Core
import RedisLink
import Service

/// The scripts that a gateway calls for itself, by their meaning.
struct StoreScripts: Sendable {
    /// The scripts of a namespace that tell a topic's state, and the state's keys.
    struct Stateful: Sendable {
        let subscribe: ScriptID
        let position: ScriptID
        let keys: [Template]
    }

    let publish: ScriptID
    let subscribe: ScriptID
    let history: ScriptID
    let position: ScriptID
    private let stateful: [ArraySlice<UInt8>: Stateful]

    /// Finds the scripts; fails only when an embedded file is missing, which a unit test excludes.
    init(_ library: ScriptLibrary) throws(StartProblem) {
        func id(_ name: String) throws(StartProblem) -> ScriptID {
            guard let entry = library.table[name] else { throw StartProblem("the script \(name) is missing") }
            return entry.id
        }
        publish = try id("publish")
        subscribe = try id("subscribe")
        history = try id("history")
        position = try id("position")
        var stateful: [ArraySlice<UInt8>: Stateful] = [:]
        for state in library.catalogue.states.values {
            stateful[Array(state.namespace.utf8)[...]] = Stateful(
                subscribe: try id(state.scriptName), position: try id(state.positionName),
                keys: state.keys.map(\.template))
        }
        self.stateful = stateful
    }

    /// The scripts of a topic's namespace; `nil` when it has no state.
    func stateful(_ topic: Topic) -> Stateful? { stateful[topic.namespace] }
}

extension StoreScripts.Stateful {
    /// The state's keys for a topic, in their order.
    func keys(_ topic: Topic, _ keys: Keys) -> [[UInt8]] {
        self.keys.compactMap { $0.key(keys) { $0 == "id" ? Array(topic.id) : nil } }
    }
}
