import Configuration
import Service
import Worker

/// `switchboard move-data`: renames keys for another layout, in their Redis or into another.
enum MoveDataCommand {
    /// 0 when every key was moved and verified, 1 otherwise.
    static func run(_ settings: MoveDataSettings) throws(StartProblem) -> Int32 {
        let outcome = try DataMove(settings).run()
        let verb = settings.isDryRun ? "to move" : "moved"
        Terminal.print(
            "keys: \(outcome.moved) \(verb), \(outcome.verified) verified, \(outcome.foreign) left that are not Switchboard's"
        )
        for name in outcome.conflicts { Terminal.error("another value has the new name of \(name)") }
        guard let failure = outcome.failure else { return outcome.conflicts.isEmpty ? 0 : 1 }
        Terminal.error(failure)
        return 1
    }
}
