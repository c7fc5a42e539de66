import Commands
import RedisLink
import Service

extension ScriptTable {
    /// The id of an embedded script, without which this process cannot work.
    func required(_ name: String) throws(StartProblem) -> ScriptID {
        guard let entry = self[name] else { throw StartProblem("the embedded scripts are incomplete") }
        return entry.id
    }
}
