import Configuration
import Core
import Gateway
import Service

/// `switchboard check`: prints the faults of a gateway with these settings, and their remedies.
enum CheckCommand {
    /// 0 when a gateway would start and become ready, 1 otherwise.
    static func run(_ settings: GatewaySettings) -> Int32 {
        Terminal.print(settings.describe())
        Terminal.print("")
        let report = Preflight.run(settings)
        for finding in report.findings { Terminal.print(finding.description) }
        if settings.showsUpgrade {
            Terminal.print("")
            for line in report.upgrade { Terminal.print(line) }
        }
        return report.findings.contains { $0.verdict == .wrong } ? 1 : 0
    }
}
