import Configuration
import Service
import Worker

/// `switchboard reset-epochs`: ends the epochs of topics after Redis was restored, so that clients are notified.
enum ResetEpochsCommand {
    /// 0 when all keys were read and nothing was refused, 1 otherwise.
    static func run(_ settings: ResetEpochsSettings) throws(StartProblem) -> Int32 {
        let outcome = try EpochReset(settings).run()
        let verb = settings.isDryRun ? "to reset" : "reset"
        Terminal.print("topics: \(outcome.ended) \(verb), \(outcome.before) reset before, \(outcome.refused) refused")
        guard let failure = outcome.failure else { return 0 }
        Terminal.error(failure + "; run it again to go on")
        return 1
    }
}
