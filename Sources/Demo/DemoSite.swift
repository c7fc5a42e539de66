public import Configuration
import Core
public import HTTPSurface
import Reactors
import Rights
public import Service

/// The demo of a node of `switchboard dev`: its pages, its guests, its phones, and one order at a time.
///
/// Thread: any.
public final class DemoSite: Sendable {
    /// Creates guests for the demo's page; `nil` without a secret to sign with.
    let guests: DemoGuests?
    /// The demo's phones; `nil` where no pushes are sent.
    let phones: DemoPhones?
    /// The simulated people; `nil` without them.
    let people: DemoPeople?
    /// The API key with which the demo's page opens the inspector.
    let apiKey: [UInt8]
    private let order = Guarded(RunningOrder())

    private struct RunningOrder: Sendable {
        /// Counts orders, so that one that had to yield knows that it is over.
        var number = 0
        var isRunning = false
        /// Whether it ends when another begins.
        var yields = false
    }

    /// The demo of a gateway with these settings and an API key of it; `phones` are those that its pages show.
    ///
    /// Not inlined: the optimiser of Swift 6.3.1 ends with an error where it is.
    @inline(never)
    public init(_ settings: GatewaySettings, apiKey: [UInt8], phones: DemoPhones?, people: DemoPeople?)
        throws(StartProblem)
    {
        self.people = people
        guests = try DemoGuests(settings)
        self.apiKey = apiKey
        self.phones = phones
    }

    /// Makes the routes of a shard.
    public var routes: ExtraRoutesMaker { { DemoRoutes(self, $0) } }

    /// Begins the demo's order and returns its number; `nil` while one is being processed that does not yield.
    ///
    /// An order of the simulated people yields to a visitor's.
    func beginOrder(yields: Bool) -> Int? {
        order.withLock { order in
            guard !order.isRunning || (order.yields && !yields) else { return nil }
            order = RunningOrder(number: order.number + 1, isRunning: true, yields: yields)
            return order.number
        }
    }

    /// Whether the order is still being processed.
    func isRunning(order number: Int) -> Bool {
        order.withLock { $0.isRunning && $0.number == number }
    }

    /// The order is done.
    func end(order number: Int) {
        order.withLock { order in
            if order.number == number { order.isRunning = false }
        }
    }
}
