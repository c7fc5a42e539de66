/// Finite defaults of a courier; configuration uses the same names as for ``Limits``.
public struct CourierLimits: Sendable, Equatable {
    /// Requests in flight of a courier, for all services and for each receiver of webhooks; further ones wait.
    public var outsideRequestsMax = 128
    /// Requests that wait for those in flight; beyond: the request fails and is retried later.
    public var outsideWaitingMax = 1_024
    /// Time from the first look-up of a name to the end of the TLS handshake with an outside server.
    public var outsideConnectMs = 5_000
    /// Bytes of the head of an answer from outside; beyond: the request failed.
    public var outsideHeadBytesMax = 16_384
    /// Bytes of the body of an answer from outside; beyond: the request failed.
    public var outsideBodyBytesMax = 1_048_576
    /// Longest time that a receiver of a webhook may take to answer.
    public var webhookMs = 15_000
    /// Time for which a courier holds a topic's webhooks without renewal; longer than ``webhookMs``.
    public var webhookLeaseMs = 30_000
    /// The longest pause between two attempts at a receiver that does not answer.
    public var webhookPauseMs = 30_000
    /// Topics with events for one receiver that a courier works on; further ones wait.
    public var webhookTopicsMax = 64
    /// Events given up that are kept for one receiver; beyond: the oldest are dropped.
    public var webhookDeadMax = 1_000
    /// Topics that a courier remembers for a check; beyond: it scans all of them again later.
    public var webhookKnownMax = 100_000
    /// Interval at which a courier scans all topics for events that were not reported.
    public var webhookSweepMs = 300_000
    /// Longest time that the server of a key set may take to answer.
    public var keySetMs = 10_000
    /// Interval at which a courier fetches a key set, and the longest pause after failures.
    public var keySetRefreshMs = 300_000
    /// Pause after the first failure to fetch a key set; doubled after each further one.
    public var keySetRetryMs = 5_000
    /// Age of the last fetched key set beyond which a courier is not ready.
    public var keySetLateMs = 3_600_000

    /// The defaults.
    public init() {}
}
