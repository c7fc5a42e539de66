public import Configuration
import Gateway
import Reactors
public import Service

/// The shop of `switchboard dev`: runs the commands of its simulated days, as any backend may.
public enum DemoShop {
    /// Opens the shop on a thread of its own, with the settings of a gateway; `people` say when a guest looks at it.
    public static func start(
        _ settings: GatewaySettings, people: DemoPeople?, log: Log
    ) throws(StartProblem) -> NodeThread {
        let parts = try NodeParts(settings)
        return try NodeThread(
            "demo", operations: nil, stalls: ProcessStalls(), log: log
        ) { reactor, _ throws(Errno) in
            try DemoRunner(reactor: reactor, parts: parts, settings: settings, people: people, log: log)
        }
    }
}
