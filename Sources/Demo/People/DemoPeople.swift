public import Configuration
import Reactors
public import Service

/// The simulated people of `switchboard dev`: users of the gateway who walk, vote, queue songs and answer visitors.
///
/// They are clients like any other, each with a WebSocket of its own. This object takes news from the pages to the
/// people and back. Thread: any.
public final class DemoPeople: Sendable {
    /// A guest's look at a tab of the page.
    struct Visit: Sendable, Equatable {
        let user: String
        let tab: String
    }

    private struct State: Sendable {
        var visits: [Visit] = []
        var sessionCode = ""
        var isShopVisited = false
    }

    private let state = Guarded(State())

    /// Visits that wait to be seen; more are dropped.
    private static let visitsMax = 64

    /// People who have not begun.
    public init() {}

    /// Starts them on a thread of their own, as clients of the gateway of these settings, which listens at `address`.
    public func start(
        _ settings: GatewaySettings, at address: HostPort, log: Log
    ) throws(StartProblem) -> NodeThread {
        guard let guests = try DemoGuests(settings) else { throw StartProblem("the people need a secret for tokens") }
        let reach = GatewayReach(address: address, certificate: settings.tlsCert ?? "")
        let limits = settings.limits
        return try NodeThread(
            "people", operations: nil, stalls: ProcessStalls(), log: log
        ) { [self] reactor, _ throws(Errno) in
            try PeopleRunner(reactor: reactor, people: self, guests: guests, reach: reach, limits: limits, log: log)
        }
    }

    /// The ids of the people; the first one writes to every visitor.
    static var names: [String] { Array(DemoCast.customers.prefix(5)) }

    /// Notes that a guest looks at a tab.
    func note(_ visit: Visit) {
        state.withLock { state in
            if visit.tab == "shop" { state.isShopVisited = true }
            if state.visits.count < DemoPeople.visitsMax { state.visits.append(visit) }
        }
    }

    /// Takes the visits since the last call.
    func takeVisits() -> [Visit] {
        state.withLock { state in
            defer { state.visits = [] }
            return state.visits
        }
    }

    /// Whether a guest has looked at the shop since the last call, for the customers there.
    func takeShopVisit() -> Bool {
        state.withLock { state in
            defer { state.isShopVisited = false }
            return state.isShopVisited
        }
    }

    /// The join code of the people's listening session; empty without one.
    var sessionCode: String {
        get { state.withLock { $0.sessionCode } }
        set { state.withLock { $0.sessionCode = newValue } }
    }
}

/// The way to the gateway, for its clients in this process.
struct GatewayReach: Sendable {
    let address: HostPort
    /// The file of the certificate that they trust.
    let certificate: String
}
