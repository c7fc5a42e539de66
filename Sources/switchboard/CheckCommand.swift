import Configuration
import Core
import Gateway
import Service

/// `switchboard check`: says what would be wrong with a gateway of these settings, and how to mend it.
enum CheckCommand {
    /// 0 when a gateway would start and become ready, 1 otherwise.
    static func run(_ settings: GatewaySettings) -> Int32 {
        Terminal.print(settings.describe())
        Terminal.print("")
        let findings = Preflight.run(settings)
        for finding in findings { Terminal.print(finding.description) }
        return findings.contains { $0.verdict == .wrong } ? 1 : 0
    }
}
