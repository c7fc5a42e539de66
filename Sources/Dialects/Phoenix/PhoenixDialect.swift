public import Core

/// Phoenix channels in the form of Supabase's Realtime clients: JSON objects (vsn 1.0.0) or arrays (2.0.0).
///
/// A channel is a topic, a broadcast is an event. Positions and gaps are unknown to these clients. They are sent in
/// members that clients ignore, and in notices that clients pass to their listeners.
public struct PhoenixDialect: Dialect {
    /// The paths of the dialect.
    public static let paths = ["/realtime/v1/websocket", "/socket/websocket"]

    /// The serializer.
    public let version: PhoenixVersion
    /// Depth and size of one message.
    public let json: JSON.Limits
    /// Channels of one connection; beyond: `ChannelRateLimitReached`.
    public let channelsMax: Int
    /// Bytes of one broadcast's payload; beyond: `payload_size_exceeded`.
    public let publishBytesMax: Int
    let encoder: PhoenixEventEncoder

    /// Makes the dialect with its limits; `flattened` are the namespaces of ``PhoenixEventEncoder``.
    public init(
        _ version: PhoenixVersion, json: JSON.Limits, channelsMax: Int, publishBytesMax: Int,
        flattened: Set<[UInt8]> = []
    ) {
        self.version = version
        self.json = json
        self.channelsMax = channelsMax
        self.publishBytesMax = publishBytesMax
        encoder = PhoenixEventEncoder(version, flattened: flattened)
    }

    /// The topic of a channel's name without `realtime:`.
    public static func topic(named name: [UInt8]) throws(Refusal) -> Topic {
        switch PhoenixChannelName.topic(PhoenixChannelName.prefix + name) {
        case .success(let topic): return topic
        case .failure(let problem): throw Refusal(.badRequest, problem.reason)
        }
    }

    /// The encoder of the version.
    public var encoders: [any EventEncoder] { [encoder] }

    /// A code below 4000: Swift's client reconnects after no other.
    public func closeCode(_ reason: CloseReason) -> UInt16? {
        switch reason {
        case .badRequest, .unauthorized, .forbidden: CloseReason.policyViolation.webSocketCode
        case .timeout, .slowConsumer, .rateLimited: CloseReason.tryLater.webSocketCode
        default: reason.webSocketCode
        }
    }

    /// Begins a connection.
    public func converse() -> any DialectMachine { PhoenixMachine(self) }
}
