/// Finite defaults of a courier; configuration knows them by the same names as those of ``Limits``.
public struct CourierLimits: Sendable, Equatable {
    /// Requests in flight of a courier, for all services and for each receiver of webhooks; further ones wait.
    public var outsideRequestsMax = 128
    /// Requests that wait behind them; beyond: the request fails and is made again later.
    public var outsideWaitingMax = 1_024
    /// From the first look-up of a name to the end of the TLS handshake with something outside.
    public var outsideConnectMs = 5_000
    /// Bytes of the head of an answer from outside; beyond: the request failed.
    public var outsideHeadBytesMax = 16_384
    /// Bytes of the body of an answer from outside; beyond: the request failed.
    public var outsideBodyBytesMax = 1_048_576
    /// How long a receiver of a webhook may take to answer.
    public var webhookMs = 15_000
    /// How long a topic's webhooks are a courier's without a sign of life; longer than ``webhookMs``.
    public var webhookLeaseMs = 30_000
    /// The longest pause between two attempts at a receiver that does not answer.
    public var webhookPauseMs = 30_000
    /// Topics with events for one receiver that a courier works on; further ones wait.
    public var webhookTopicsMax = 64
    /// Events given up that are kept for one receiver; beyond: the oldest are dropped.
    public var webhookDeadMax = 1_000
    /// Topics that a courier remembers to look at; beyond: it looks through all of them again later.
    public var webhookKnownMax = 100_000
    /// Interval at which a courier looks through all topics for events that nobody told of.
    public var webhookSweepMs = 300_000

    /// The defaults.
    public init() {}
}
