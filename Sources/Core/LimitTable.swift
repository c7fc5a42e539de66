/// One limit as configuration and documentation know it.
public struct LimitEntry: Sendable {
    /// The name used by `--limit name=value` and the config file.
    public let name: String
    /// The smallest and largest value configuration may set.
    public let range: ClosedRange<Int>
    /// Where the value lives.
    public let path: WritableKeyPath<Limits, Int> & Sendable
}

extension Limits {
    /// Every limit, by name.
    public static let table: [LimitEntry] = {
        let size = 1...1_000_000_000
        let time = 1...86_400_000
        let micros = 1...100_000_000
        let bytes = 128...4_294_967_296
        return [
            LimitEntry(name: "connectionsMax", range: size, path: \.connectionsMax),
            LimitEntry(name: "connectionsPerAddressMax", range: size, path: \.connectionsPerAddressMax),
            LimitEntry(name: "unauthenticatedMax", range: size, path: \.unauthenticatedMax),
            LimitEntry(name: "unauthenticatedPerAddressMax", range: size, path: \.unauthenticatedPerAddressMax),
            LimitEntry(name: "tlsHandshakeMs", range: time, path: \.tlsHandshakeMs),
            LimitEntry(name: "requestHeadMs", range: time, path: \.requestHeadMs),
            LimitEntry(name: "requestBodyMs", range: time, path: \.requestBodyMs),
            LimitEntry(name: "keepAliveMs", range: time, path: \.keepAliveMs),
            LimitEntry(name: "authenticateMs", range: time, path: \.authenticateMs),
            LimitEntry(name: "handshakesPerTick", range: size, path: \.handshakesPerTick),
            LimitEntry(name: "handshakeMsPerTick", range: 1...1_000, path: \.handshakeMsPerTick),
            LimitEntry(name: "handshakesPendingMax", range: size, path: \.handshakesPendingMax),
            LimitEntry(name: "acceptsPerTick", range: size, path: \.acceptsPerTick),
            LimitEntry(name: "acceptPauseMs", range: time, path: \.acceptPauseMs),
            LimitEntry(name: "closeMs", range: time, path: \.closeMs),
            LimitEntry(name: "memoryBytesMax", range: 0...1_099_511_627_776, path: \.memoryBytesMax),
            LimitEntry(name: "requestLineBytesMax", range: bytes, path: \.requestLineBytesMax),
            LimitEntry(name: "headBytesMax", range: bytes, path: \.headBytesMax),
            LimitEntry(name: "headersMax", range: size, path: \.headersMax),
            LimitEntry(name: "bodyBytesMax", range: bytes, path: \.bodyBytesMax),
            LimitEntry(name: "anonymousBodyBytesMax", range: bytes, path: \.anonymousBodyBytesMax),
            LimitEntry(name: "batchMax", range: 1...4_096, path: \.batchMax),
            LimitEntry(name: "publishBytesMax", range: bytes, path: \.publishBytesMax),
            LimitEntry(name: "inboundMessageBytesMax", range: bytes, path: \.inboundMessageBytesMax),
            LimitEntry(name: "fragmentsMax", range: size, path: \.fragmentsMax),
            LimitEntry(name: "controlFramesPerSecond", range: size, path: \.controlFramesPerSecond),
            LimitEntry(name: "pingMs", range: time, path: \.pingMs),
            LimitEntry(name: "pongMs", range: time, path: \.pongMs),
            LimitEntry(name: "jsonDepthMax", range: 1...64, path: \.jsonDepthMax),
            LimitEntry(name: "jsonElementsMax", range: size, path: \.jsonElementsMax),
            LimitEntry(name: "answerDepthMax", range: 1...64, path: \.answerDepthMax),
            LimitEntry(name: "answerElementsMax", range: size, path: \.answerElementsMax),
            LimitEntry(name: "answerBytesMax", range: bytes, path: \.answerBytesMax),
            LimitEntry(name: "topicsPerConnectionMax", range: size, path: \.topicsPerConnectionMax),
            LimitEntry(name: "outboxMax", range: size, path: \.outboxMax),
            LimitEntry(name: "heartbeatsPerSweep", range: size, path: \.heartbeatsPerSweep),
            LimitEntry(name: "followsMax", range: size, path: \.followsMax),
            LimitEntry(name: "subscribeBatchMax", range: size, path: \.subscribeBatchMax),
            LimitEntry(name: "messagesPerSecond", range: size, path: \.messagesPerSecond),
            LimitEntry(name: "userActionsPerSecond", range: size, path: \.userActionsPerSecond),
            LimitEntry(name: "joinsPerSecond", range: size, path: \.joinsPerSecond),
            LimitEntry(name: "followReadsPerSecond", range: size, path: \.followReadsPerSecond),
            LimitEntry(name: "authenticationsPerSecond", range: size, path: \.authenticationsPerSecond),
            LimitEntry(name: "heldPublishesMax", range: size, path: \.heldPublishesMax),
            LimitEntry(name: "heldPublishBytesMax", range: bytes, path: \.heldPublishBytesMax),
            LimitEntry(name: "connectsPerAddressPerSecond", range: size, path: \.connectsPerAddressPerSecond),
            LimitEntry(name: "rateBucketsMax", range: size, path: \.rateBucketsMax),
            LimitEntry(name: "requestsPerAddressPerSecond", range: size, path: \.requestsPerAddressPerSecond),
            LimitEntry(name: "refusalsMax", range: size, path: \.refusalsMax),
            LimitEntry(name: "tokenBytesMax", range: 128...65_536, path: \.tokenBytesMax),
            LimitEntry(name: "tokenLeewaySeconds", range: 0...600, path: \.tokenLeewaySeconds),
            LimitEntry(name: "tokenWarningMs", range: time, path: \.tokenWarningMs),
            LimitEntry(name: "revocationSeconds", range: 60...31_622_400, path: \.revocationSeconds),
            LimitEntry(name: "revocationsMax", range: 1...10_000_000, path: \.revocationsMax),
            LimitEntry(name: "rightsPollMs", range: 50...86_400_000, path: \.rightsPollMs),
            LimitEntry(name: "membershipCheckMs", range: time, path: \.membershipCheckMs),
            LimitEntry(name: "membersMax", range: 1...10_000_000, path: \.membersMax),
            LimitEntry(name: "outboundBytesMax", range: bytes, path: \.outboundBytesMax),
            LimitEntry(name: "outboundAgeMs", range: time, path: \.outboundAgeMs),
            LimitEntry(name: "outboundTotalBytesMax", range: 128...1_099_511_627_776, path: \.outboundTotalBytesMax),
            LimitEntry(name: "fanoutSliceMembers", range: size, path: \.fanoutSliceMembers),
            LimitEntry(name: "fanoutSliceBytesMax", range: bytes, path: \.fanoutSliceBytesMax),
            LimitEntry(name: "topicLingerMs", range: time, path: \.topicLingerMs),
            LimitEntry(name: "recoveryEventsMax", range: 1...10_000, path: \.recoveryEventsMax),
            LimitEntry(name: "recoveryBytesMax", range: bytes, path: \.recoveryBytesMax),
            LimitEntry(name: "logPageEventsMax", range: 1...10_000, path: \.logPageEventsMax),
            LimitEntry(name: "logPageBytesMax", range: bytes, path: \.logPageBytesMax),
            LimitEntry(name: "logReadsMax", range: size, path: \.logReadsMax),
            LimitEntry(name: "heldEventsMax", range: size, path: \.heldEventsMax),
            LimitEntry(name: "idlePositionSeconds", range: 3...86_400, path: \.idlePositionSeconds),
            LimitEntry(name: "knownPositionsMax", range: size, path: \.knownPositionsMax),
            LimitEntry(name: "pastLedgersMax", range: size, path: \.pastLedgersMax),
            LimitEntry(name: "historyPageMax", range: 1...10_000, path: \.historyPageMax),
            LimitEntry(name: "redisConnectMs", range: time, path: \.redisConnectMs),
            LimitEntry(name: "redisCallMs", range: time, path: \.redisCallMs),
            LimitEntry(name: "redisStallMs", range: time, path: \.redisStallMs),
            LimitEntry(name: "redisInFlightMax", range: size, path: \.redisInFlightMax),
            LimitEntry(name: "redisCallArgumentsMax", range: 128...1_000_000, path: \.redisCallArgumentsMax),
            LimitEntry(name: "redisCallBytesMax", range: 1_048_576...536_870_912, path: \.redisCallBytesMax),
            LimitEntry(name: "redisOutboundBytesMax", range: bytes, path: \.redisOutboundBytesMax),
            LimitEntry(name: "publishGroupEventsMax", range: 1...256, path: \.publishGroupEventsMax),
            LimitEntry(name: "publishGroupBytesMax", range: bytes, path: \.publishGroupBytesMax),
            LimitEntry(name: "publishWaitingBytesMax", range: bytes, path: \.publishWaitingBytesMax),
            LimitEntry(name: "redisProbeMs", range: time, path: \.redisProbeMs),
            LimitEntry(name: "redisProbeTimeoutMs", range: time, path: \.redisProbeTimeoutMs),
            LimitEntry(name: "redisBackOffMinMs", range: time, path: \.redisBackOffMinMs),
            LimitEntry(name: "redisBackOffMaxMs", range: time, path: \.redisBackOffMaxMs),
            LimitEntry(name: "redisSubscribeBatch", range: 1...4_096, path: \.redisSubscribeBatch),
            LimitEntry(name: "redisReplyBytesMax", range: bytes, path: \.redisReplyBytesMax),
            LimitEntry(name: "redisReplyElementsMax", range: size, path: \.redisReplyElementsMax),
            LimitEntry(name: "idempotencySeconds", range: 1...86_400, path: \.idempotencySeconds),
            LimitEntry(name: "relayedSeconds", range: 1...86_400, path: \.relayedSeconds),
            LimitEntry(name: "addressRedisUsPerSecond", range: micros, path: \.addressRedisUsPerSecond),
            LimitEntry(name: "anonymousRedisUsPerSecond", range: micros, path: \.anonymousRedisUsPerSecond),
            LimitEntry(name: "userRedisUsPerSecond", range: micros, path: \.userRedisUsPerSecond),
            LimitEntry(name: "serviceRedisUsPerSecond", range: micros, path: \.serviceRedisUsPerSecond),
            LimitEntry(name: "newPositionUs", range: 0...1_000_000, path: \.newPositionUs),
            LimitEntry(name: "readWeightInFlightMax", range: 1...10_000_000, path: \.readWeightInFlightMax),
            LimitEntry(name: "readWeightWaitingMax", range: 1...100_000_000, path: \.readWeightWaitingMax),
            LimitEntry(name: "readWaitMs", range: time, path: \.readWaitMs),
            LimitEntry(name: "leaseMs", range: 300...600_000, path: \.leaseMs),
            LimitEntry(name: "sweepMs", range: 100...3_600_000, path: \.sweepMs),
            LimitEntry(name: "sweepMaxMs", range: 100...86_400_000, path: \.sweepMaxMs),
            LimitEntry(name: "scanKeys", range: 10...20_000, path: \.scanKeys),
            LimitEntry(name: "scanPauseMs", range: time, path: \.scanPauseMs),
            LimitEntry(name: "refreshesMax", range: 2...4_096, path: \.refreshesMax),
            LimitEntry(name: "refreshIDsMax", range: size, path: \.refreshIDsMax),
            LimitEntry(name: "relayWindowMax", range: 1...100_000, path: \.relayWindowMax),
            LimitEntry(name: "relaysMax", range: 1...4_096, path: \.relaysMax),
            LimitEntry(name: "relaySweepMs", range: time, path: \.relaySweepMs),
            LimitEntry(name: "outboxDeadMax", range: size, path: \.outboxDeadMax),
            LimitEntry(name: "mailboxMax", range: size, path: \.mailboxMax),
            LimitEntry(name: "logLinesMax", range: size, path: \.logLinesMax),
            LimitEntry(name: "shardSweepMs", range: 1...10_000, path: \.shardSweepMs),
            LimitEntry(name: "reportWaitMs", range: time, path: \.reportWaitMs),
            LimitEntry(name: "drainMs", range: time, path: \.drainMs),
            LimitEntry(name: "drainGraceMs", range: 0...86_400_000, path: \.drainGraceMs),
            LimitEntry(name: "drainStepMs", range: 1...10_000, path: \.drainStepMs),
            LimitEntry(name: "drainAcceptMs", range: 0...60_000, path: \.drainAcceptMs),
        ]
    }()

    /// The JSON limits of what scripts wrote or answered.
    ///
    /// They are wider than those of input: a script makes one text of many that were taken.
    public var answers: JSON.Limits { JSON.Limits(depthMax: answerDepthMax, elementsMax: answerElementsMax) }

    /// The JSON limits of client and backend input.
    public var json: JSON.Limits { JSON.Limits(depthMax: jsonDepthMax, elementsMax: jsonElementsMax) }
}
