/// Every finite default of the gateway, in one place (values and reasons: the field's defaults, see docs/limits.md).
///
/// Lower targets receive the figures that they need as explicit parameters without defaults. Each limit has a name, by
/// which configuration sets it (`--limit name=value`), its counter in `/metrics` and its tests are known.
public struct Limits: Sendable, Equatable {
    // MARK: Connections and deadlines (milliseconds, absolute: not reset by traffic)

    /// Connections that a node accepts.
    public var connectionsMax = 100_000
    /// Connections that one address may have; IPv6 counted by /64.
    public var connectionsPerAddressMax = 2_048
    /// Connections, node-wide, that have not finished TLS, their request, or authentication.
    public var unauthenticatedMax = 10_000
    /// Unauthenticated connections of one address: a fortieth, so that few addresses cannot take all places.
    public var unauthenticatedPerAddressMax = 256
    /// From accept to the end of the TLS handshake.
    public var tlsHandshakeMs = 5_000
    /// From the first moment at which a request may arrive to the end of its head.
    public var requestHeadMs = 5_000
    /// From the end of the head to the end of the body.
    public var requestBodyMs = 10_000
    /// Keep-alive: idle time between two HTTP requests.
    public var keepAliveMs = 60_000
    /// From the upgrade to the first `authenticate` or `subscribe`.
    public var authenticateMs = 10_000
    /// TLS handshakes advanced per loop tick, so that a herd does not starve established clients.
    public var handshakesPerTick = 64
    /// Time that TLS handshakes may take of one loop tick, for the same reason.
    public var handshakeMsPerTick = 4
    /// TLS handshakes of a node that wait; beyond, new connections stay in the kernel's backlog.
    public var handshakesPendingMax = 512
    /// Connections accepted per loop tick.
    public var acceptsPerTick = 64
    /// Pause of the listener when file descriptors run out (EMFILE).
    public var acceptPauseMs = 100
    /// Time from the gateway's close frame to the end of the TCP connection.
    public var closeMs = 2_000
    /// Resident bytes above which no new client is admitted; 0: three quarters of the machine's or control group's.
    public var memoryBytesMax = 0

    // MARK: HTTP

    /// Bytes of the request line; beyond: 414.
    public var requestLineBytesMax = 8_192
    /// Bytes of the whole head; beyond: 431.
    public var headBytesMax = 16_384
    /// Header fields; beyond: 431.
    public var headersMax = 100
    /// Bytes of a request body; beyond: 413.
    public var bodyBytesMax = 1_048_576
    /// Bytes of a request body of a caller without credentials; beyond: 413.
    public var anonymousBodyBytesMax = 65_536
    /// Seconds for which browsers that used TLS must use TLS only (HSTS); 0: the header is not sent.
    public var hstsSeconds = 86_400
    /// Messages in one batch of `POST /v1/broadcast`; beyond: 400.
    public var batchMax = 256
    /// Bytes of one published message's data; beyond: `too_large`.
    public var publishBytesMax = 65_536

    // MARK: WebSocket

    /// Bytes of one inbound message; beyond: close 1009.
    public var inboundMessageBytesMax = 65_536
    /// Fragments of one inbound message; beyond: close 1008.
    public var fragmentsMax = 128
    /// Control frames per second of one connection; beyond: close 1008.
    public var controlFramesPerSecond = 50
    /// Bytes of a message beyond which it is not deflated: a thread must not deflate for longer than a millisecond or two.
    public var deflateBytesMax = 262_144
    /// Server ping interval; below nginx's 60 s read timeout.
    public var pingMs = 25_000
    /// Wait for the pong.
    public var pongMs = 10_000

    // MARK: Socket.IO

    /// From a Socket.IO client's answer to the next ping.
    public var socketIOPingMs = 25_000
    /// Longest wait for the answer to that ping.
    public var socketIOPongMs = 20_000
    /// Time until the first answer of a node to a relayed poll; after three times as long without one, the node is
    /// gone.
    public var pollHopMs = 2_000
    /// Polls of one shard that are relayed to other nodes; beyond: 503.
    public var pollHopsMax = 65_536
    /// Bytes of the packets in these polls; beyond: 503.
    public var pollHopBytesMax = 16_777_216

    // MARK: JSON

    /// Nesting of arrays and objects.
    public var jsonDepthMax = 32
    /// Values in one text.
    public var jsonElementsMax = 10_000
    /// Nesting in texts from scripts: answers, states and logged events.
    public var answerDepthMax = 64
    /// Values in texts from scripts; a page of the built-in scripts has at most 786,432 bytes.
    public var answerElementsMax = 400_000
    /// Bytes of one answer of a command, one state, or one positioned event; beyond: `internal`, or not sent.
    public var answerBytesMax = 4_194_304

    // MARK: Sessions

    /// Topics that one connection may hold; beyond: `too_large`.
    public var topicsPerConnectionMax = 256
    /// Topics that the connections of one address may hold without a token.
    public var topicsPerAddressMax = 16_384
    /// Outbox entries of commands that may wait in a lane; beyond: commands that would add to it are `unavailable`.
    public var outboxMax = 250_000
    /// Entries of one user, or of all anonymous callers together, that may wait in a lane; beyond: `unavailable`.
    public var outboxPayerMax = 10_000
    /// Outbox entries that calls of the worker may add to a lane; beyond: such a call waits until there is room.
    ///
    /// Commands cannot use this room, and the worker begins no further call of a payer while enough of it is used.
    public var outboxFollowUpsMax = 1_000_000
    /// Calls of one outside service that may wait for a courier; beyond: commands that would add to them are
    /// `unavailable`.
    public var callsMax = 4_000
    /// Questions to outside services that one node has in flight; beyond: `unavailable`.
    public var asksMax = 256
    /// Questions to one service that may wait for a courier; beyond: `unavailable`.
    public var asksWaitingMax = 1_024
    /// Longest wait of a caller for the answer of an outside service.
    public var askMs = 5_000
    /// Bytes of such an answer; beyond: `unavailable`.
    public var askAnswerBytesMax = 65_536
    /// Cached answers of one service; beyond: those whose validity ends first are dropped.
    public var answersKeptMax = 500
    /// Heartbeats of users that a shard runs per sweep, four times a second.
    public var heartbeatsPerSweep = 250
    /// Topics that a user's own topic may follow; events of further ones are not sent.
    public var followsMax = 1_000
    /// Topics in one subscribe request; beyond: `too_large`.
    public var subscribeBatchMax = 64
    /// Messages per second of one connection (token bucket, burst twice the rate); beyond: read later, `rate_limited`.
    public var messagesPerSecond = 50
    /// Publishes and commands per second of one user on one node; burst twice the rate.
    public var userActionsPerSecond = 10
    /// Joins per second of one connection; burst: ``subscribeBatchMax`` and at least twice the rate.
    public var joinsPerSecond = 20
    /// Reads per second, by one connection, of the topics that its user's own topic follows; burst five times the rate.
    public var followReadsPerSecond = 1
    /// Tokens per second that one connection may present; burst ten times the rate.
    public var authenticationsPerSecond = 1
    /// Publishes of one connection that wait for a membership check of their user; beyond: `rate_limited`.
    public var heldPublishesMax = 64
    /// Bytes of the data of these publishes.
    public var heldPublishBytesMax = 262_144
    /// New connections per second of one address on one node; burst four times the rate.
    public var connectsPerAddressPerSecond = 500
    /// Addresses, or users, whose buckets a node stores for one rate; beyond: refused until a bucket is full again.
    public var rateBucketsMax = 65_536
    /// HTTP requests per second of one address on one node, API keys' not counted; burst twice the rate.
    public var requestsPerAddressPerSecond = 1_000
    /// Answers to `GET /v1/openapi.json` with a body per second of one address on one node; burst ten times the rate.
    public var documentsPerAddressPerSecond = 2
    /// Refused messages in a row after which the connection is closed 4429; `unavailable` and `internal` do not count.
    public var refusalsMax = 100
    /// Bytes of a token; beyond: `unauthorized`.
    public var tokenBytesMax = 8_192
    /// Leeway on `exp` and `nbf`, seconds.
    public var tokenLeewaySeconds = 30
    /// Time before a token's end at which its session receives a warning.
    public var tokenWarningMs = 60_000
    /// Time for which a revocation is stored, seconds: at least the longest life of a token.
    public var revocationSeconds = 2_678_400
    /// Users and tokens that may be revoked at once; beyond, a further revocation is refused.
    ///
    /// One takes 200 B of Redis and 150 B of each node.
    public var revocationsMax = 100_000
    /// Interval at which a node asks Redis for revocations and for removed members.
    public var rightsPollMs = 500
    /// Time without an answer to that request after which the row `rights` of readiness is red.
    public var rightsStaleMs = 10_000
    /// Time within which every membership behind a subscription is checked again.
    public var membershipCheckMs = 30_000
    /// Members of one topic that the API accepts; beyond: `too_large`.
    public var membersMax = 100_000

    // MARK: Presence

    /// Entries that one topic's presence may have; beyond: `too_large`.
    public var presenceMembersMax = 1_000
    /// Approximate number of them that may be one user's; beyond: `too_large`.
    public var presencePerUserMax = 16
    /// Bytes of the meta of an entry; beyond: `too_large`.
    public var presenceMetaBytesMax = 512
    /// Topics on which one session may be listed; beyond: `too_large`.
    public var presenceTopicsMax = 32
    /// Interval at which a shard reports the changes of one topic to Redis, and to its clients; the first one at once.
    public var presenceDiffMs = 500
    /// Interval of the heartbeats of a node with presence.
    public var presenceBeatMs = 1_000
    /// Time without a heartbeat after which a node is gone, with all its entries.
    public var presenceNodeMs = 5_000
    /// Life of a topic's presence once no node reads it any more, seconds.
    public var presenceSeconds = 300
    /// Entries that one request for a topic's presence may return.
    public var presencePageMax = 500

    // MARK: Delivery

    /// Bytes waiting for one connection; beyond: the namespace's slow policy.
    public var outboundBytesMax = 1_048_576
    /// Age of the oldest waiting byte.
    public var outboundAgeMs = 8_000
    /// Bytes waiting for all connections of a node together.
    public var outboundTotalBytesMax = 1_073_741_824
    /// Members of a topic beyond which its events are written in slices of so many connections per loop tick.
    public var fanoutSliceMembers = 256
    /// Bytes that one slice hands to its subscribers: about two milliseconds of encryption and copying.
    public var fanoutSliceBytesMax = 1_048_576
    /// Time that a topic without subscribers stays subscribed in Redis.
    public var topicLingerMs = 1_000
    /// Events one recovery may return; beyond: `recovered:false`.
    public var recoveryEventsMax = 1_000
    /// Bytes of the events one recovery may return; beyond: `recovered:false`.
    public var recoveryBytesMax = 4_194_304
    /// Events that one call reads from a log; longer reads take further calls.
    public var logPageEventsMax = 256
    /// Bytes of these events, each counted with 256 more.
    public var logPageBytesMax = 196_608
    /// Log reads in flight on one shard, for clients that join and for repairs.
    public var logReadsMax = 1_024
    /// Events stored for a topic during a repair, and during a read for clients that join.
    public var heldEventsMax = 1_024
    /// Life of the position of a topic without publishes, once no node has members of it, seconds.
    public var idlePositionSeconds = 300
    /// Topics without members whose last position a shard stores.
    public var knownPositionsMax = 16_384
    /// Ledgers that a shard stores of topics that have no members any more.
    public var pastLedgersMax = 4_096
    /// Events one history request may return.
    public var historyPageMax = 300

    // MARK: Redis

    /// Time to connect, TLS and AUTH included.
    public var redisConnectMs = 1_000
    /// Deadline of one call; a call that misses it fails alone.
    public var redisCallMs = 2_000
    /// Time without any reply on a link with unanswered calls, after which it reconnects.
    public var redisStallMs = 6_000
    /// Commands in flight on one link, and publishes that wait for others of their topic; beyond: `unavailable`.
    public var redisInFlightMax = 4_096
    /// Arguments of one call.
    public var redisCallArgumentsMax = 8_192
    /// Bytes of one call; beyond: `too_large`.
    public var redisCallBytesMax = 16_777_216
    /// Bytes of calls that wait to be written to one link; beyond: `unavailable`.
    public var redisOutboundBytesMax = 67_108_864
    /// Events of one topic that one call commits (group commit): a call must not block Redis for long.
    public var publishGroupEventsMax = 256
    /// Bytes of their data, for the same reason; a single event may have more.
    public var publishGroupBytesMax = 262_144
    /// Bytes of data of the publishes that wait for others of their topic, on one shard; beyond: `unavailable`.
    public var publishWaitingBytesMax = 16_777_216
    /// Interval of the delivery probe.
    public var redisProbeMs = 2_500
    /// Longest time until a probe is received.
    public var redisProbeTimeoutMs = 5_000
    /// Difference between two clocks up to which they count as equal; beyond: readiness names the wrong one.
    public var clockMs = 5_000
    /// Time after which a master is asked again whether it could load its own file; ACLs change while servers run.
    public var redisLoadCheckMs = 60_000
    /// Part of a master's `maxmemory` above which readiness warns, percent.
    public var redisMemoryPercent = 90
    /// Time for which readiness warns of an eviction.
    public var evictionWarnMs = 600_000
    /// Time without a live worker after which readiness warns.
    public var workersMissingMs = 30_000
    /// Days before the end of the certificate from which readiness and `check` warn.
    public var certificateDays = 14
    /// Time without Redis, and without a process that noticed its loss, after which epochs end: a machine's reboot.
    public var sealGapMs = 120_000
    /// Interval at which Redis records that it still syncs every write, far below ``sealGapMs``.
    public var sealBeatMs = 10_000
    /// Shortest back-off between reconnects; full jitter between this and ``redisBackOffMaxMs``.
    public var redisBackOffMinMs = 100
    /// See ``redisBackOffMinMs``.
    public var redisBackOffMaxMs = 1_000
    /// Longest time for a Sentinel's answer.
    public var sentinelCallMs = 500
    /// Shortest time between two queries of the Sentinels.
    public var sentinelPauseMs = 250
    /// Time after which they are queried without a reason, a quarter more or less.
    public var sentinelRefreshMs = 15_000
    /// Time for which they are queried repeatedly once the master may be changing.
    public var sentinelUnsettledMs = 5_000
    /// Time within which replicas must store an event or command under `--redis-wait`; beyond: `unavailable`.
    public var redisWaitMs = 1_000
    /// Topics in one SUBSCRIBE or UNSUBSCRIBE.
    public var redisSubscribeBatch = 512
    /// Nodes of a cluster, replicas included; beyond: its map is refused.
    public var clusterNodesMax = 1_000
    /// Time for which an old master of a cluster is asked whether the new one has all its writes.
    public var clusterProofMs = 1_000
    /// Bytes of one reply from Redis.
    public var redisReplyBytesMax = 25_165_824
    /// Elements of one array in a reply.
    public var redisReplyElementsMax = 100_000
    /// Life of an idempotency key, seconds.
    public var idempotencySeconds = 300
    /// Time for which a relayed outbox entry is recognised if it is repeated, seconds.
    public var relayedSeconds = 3_600

    // MARK: Budgets (microseconds of Redis, as the scripts declare them)

    /// Redis time of one address in a second, callers without a token together; burst five seconds' worth.
    public var addressRedisUsPerSecond = 100_000
    /// Redis time of all callers without a token in a second by way of one node; burst half a second's worth.
    public var anonymousRedisUsPerSecond = 250_000
    /// Redis time of one user in a second; burst ten seconds' worth.
    public var userRedisUsPerSecond = 100_000
    /// Bytes that one address may store in the logs of one namespace without a token, and twice as many after a pause.
    public var addressKeptBytes = 67_108_864
    /// Bytes that one user may store in the logs of one namespace, and twice as many after a pause.
    public var userKeptBytes = 16_777_216
    /// Bytes that all users and anonymous callers may store in the logs of one namespace by way of one node; the latter
    /// together use at most half of them.
    public var namespaceKeptBytes = 4_294_967_296
    /// Redis time of one backend in a second; burst two seconds' worth.
    public var serviceRedisUsPerSecond = 4_000_000
    /// Cost of a join beyond its read when it begins a position: memory that nobody may need.
    public var newPositionUs = 1_000
    /// Weight of the reads of one shard that are in flight; beyond: they wait.
    public var readWeightInFlightMax = 10_000
    /// Weight of the waiting reads of one shard; beyond: `rate_limited` or `unavailable`.
    public var readWeightWaitingMax = 500_000
    /// Longest wait of a read.
    public var readWaitMs = 1_000

    // MARK: Looks through all keys, and the outbox

    /// Keys that one SCAN reads.
    public var scanKeys = 1_000
    /// Pause between two SCANs.
    public var scanPauseMs = 40
    /// Age of the oldest entry of the outbox above which gateways and the worker warn, ms.
    public var outboxLateMs = 5_000

    // MARK: Threads and drain

    /// Values waiting between two threads; beyond, the send fails and the receiver repairs.
    public var mailboxMax = 65_536
    /// Log lines waiting for the writer; beyond: dropped and counted.
    public var logLinesMax = 8_192
    /// Lines a second of each kind about single clients or webhooks; further ones are counted instead.
    public var clientLinesPerSecond = 10
    /// Bytes that a node keeps of what became of its sessions in the last hour; 0: nothing.
    public var traceBytesMax = 16_777_216
    /// Interval at which a shard checks topics that were left, joins that wait, heartbeats and its link.
    public var shardSweepMs = 250
    /// Time for which one shard waits for the others' reports on a topic.
    public var reportWaitMs = 1_000
    /// Time for which a question over all nodes waits for their answers; those that are missing are named.
    public var fleetWaitMs = 250
    /// Questions over all nodes that a node asks, and that it answers, in a second; burst four seconds' worth.
    public var fleetQuestionsPerSecond = 10
    /// Longest wait of a starting gateway for its links to Redis before it listens all the same.
    public var listenGraceMs = 3_000
    /// Time for which a loop may be blocked before the process ends itself; 0: for ever.
    public var stuckExitMs = 30_000
    /// Time between the first notice of a drain and the last close.
    public var drainMs = 20_000
    /// Silence after readiness turns red, so that balancers notice it.
    public var drainGraceMs = 500
    /// Interval at which a drain notifies and closes the next clients.
    public var drainStepMs = 20
    /// Time between the last new connection and the close of the listeners, in which all are accepted.
    public var drainAcceptMs = 100

    // MARK: Other processes

    /// Limits of couriers alone.
    public var courier = CourierLimits()
    /// Limits of workers alone.
    public var worker = WorkerLimits()

    /// The defaults.
    public init() {}
}
