public import Configuration
import Core
public import HTTPSurface
import Rights
public import Service
import Synchronization

/// The demo of a node of `switchboard dev`: its pages, its guests, its phones, and one order at a time.
///
/// Thread: any.
public final class DemoSite: Sendable {
    /// Creates guests for the demo's page; `nil` without a secret to sign with.
    let guests: DemoGuests?
    /// The demo's phones; `nil` where no pushes are sent.
    let phones: DemoPhones?
    /// The API key with which the demo's page opens the inspector.
    let apiKey: [UInt8]
    private let isOrderRunning = Atomic<Bool>(false)

    /// The demo of a gateway with these settings and an API key of it; `phones` are those that its pages show.
    ///
    /// Not inlined: the optimiser of Swift 6.3.1 ends with an error where it is.
    @inline(never)
    public init(_ settings: GatewaySettings, apiKey: [UInt8], phones: DemoPhones?) throws(StartProblem) {
        guests = try DemoGuests(settings)
        self.apiKey = apiKey
        self.phones = phones
    }

    /// Makes the routes of a shard.
    public var routes: ExtraRoutesMaker { { DemoRoutes(self, $0) } }

    /// Begins the demo's order; false while one is being processed.
    func beginOrder() -> Bool {
        isOrderRunning.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    /// The order is done.
    func endOrder() { isOrderRunning.store(false, ordering: .releasing) }
}
