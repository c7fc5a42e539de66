public import Core
import Reactors
public import Rights

/// The rates of callers on this node, and the addresses that stand for many callers.
///
/// Thread: any.
public final class CallerRates: Sendable {
    private let trustedProxies: [CIDR]
    private let userActions: Guarded<KeyedBuckets<[UInt8]>>
    private let addressRequests: Guarded<KeyedBuckets<IPAddress>>
    private let addressDocuments: Guarded<KeyedBuckets<IPAddress>>

    /// Takes the rates of `limits`.
    public init(_ limits: Limits, trustedProxies: [CIDR]) {
        self.trustedProxies = trustedProxies
        userActions = CallerRates.buckets(limits.userActionsPerSecond, burst: 2, limits)
        addressRequests = CallerRates.buckets(limits.requestsPerAddressPerSecond, burst: 2, limits)
        addressDocuments = CallerRates.buckets(limits.documentsPerAddressPerSecond, burst: 10, limits)
    }

    /// Buckets that hold the actions of `burst` seconds.
    private static func buckets<Key>(_ perSecond: Int, burst: Int, _ limits: Limits) -> Guarded<KeyedBuckets<Key>> {
        let rate = RateLimit(perSecond: perSecond, burst: perSecond * burst)
        return Guarded(KeyedBuckets(rate, capacity: limits.rateBucketsMax))
    }

    /// Whether a peer may report addresses of others; a unix socket (`nil`) is in no range.
    public func isTrustedProxy(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return trustedProxies.contains { $0.contains(address) }
    }

    /// The payer whose budget is charged for a caller at an address; trusted proxies and unix sockets stand for many.
    public func payer(_ caller: Caller, at address: IPAddress?) -> Payer {
        caller.payer(from: isTrustedProxy(address) ? nil : address)
    }

    /// Counts one publish or command of a user; returns the milliseconds until the next is allowed.
    ///
    /// `nil` when it was counted.
    public func waitForUserAction(_ user: [UInt8], nowMs: Int) -> Int? {
        userActions.withLock { $0.takeOrWaitMs(user, nowMs: nowMs) }
    }

    /// The same for an HTTP request of an address; trusted proxies and unix sockets stand for many and are not counted.
    public func waitForRequest(_ address: IPAddress?, nowMs: Int) -> Int? { wait(addressRequests, address, nowMs) }

    /// The same for an OpenAPI document, which is large.
    public func waitForDocument(_ address: IPAddress?, nowMs: Int) -> Int? { wait(addressDocuments, address, nowMs) }

    private func wait(_ buckets: Guarded<KeyedBuckets<IPAddress>>, _ address: IPAddress?, _ nowMs: Int) -> Int? {
        guard let address, !isTrustedProxy(address) else { return nil }
        return buckets.withLock { $0.takeOrWaitMs(address.limitKey, nowMs: nowMs) }
    }
}
