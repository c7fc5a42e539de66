internal import Connections
import Core
internal import Reactors

/// The callbacks of the link to one master.
///
/// Thread: the reactor's.
protocol ShardedLinkOwner: AnyObject {
    /// A connection is ready, was lost with every channel, or could not be made.
    func linkChanged(_ link: ShardedLink, isLost: Bool)
    /// A channel is live from now on; earlier messages may have been missed.
    func channelLive(_ channel: [UInt8], on link: ShardedLink)
    /// A message arrived on a channel.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// Channels were taken away or refused; the owner decides when they are subscribed again.
    func channelsGone(_ channels: [[UInt8]], slot: Int, on link: ShardedLink, because failure: RedisFailure)
}

/// The link that receives the sharded channels of one master of a cluster.
///
/// Thread: the reactor's.
final class ShardedLink: RedisSocketOwner {
    /// The node id of the master.
    let node: [UInt8]
    /// The facts that the server reported; `nil` while there is no connection.
    private(set) var facts: ServerFacts?
    /// The last failure, for logs and readiness.
    private(set) var lastFailure: RedisFailure?
    /// Figures, readable from any thread.
    let statistics: RedisStatistics

    private unowned let owner: any ShardedLinkOwner
    private var socket: RedisSocket?
    private var reconciler: SlotReconciler

    /// Makes a link and begins to dial.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, node: [UInt8], name: String,
        statistics: RedisStatistics, owner: any ShardedLinkOwner
    ) throws(Errno) {
        self.node = node
        self.statistics = statistics
        self.owner = owner
        reconciler = SlotReconciler(
            batchMax: target.subscribeBatch, unconfirmedMax: target.subscribeBatch * 16)
        socket = RedisSocket(context, target, PrimaryDirectory(fixed: target.url), name: name, owner: self)
        try socket?.start()
    }

    /// Ends the link.
    func stop() { socket?.stop() }

    /// Gives up the connection and dials again.
    func reconnect(_ failure: RedisFailure) { socket?.fail(failure) }

    /// Whether a channel is wanted and live.
    func isLive(_ channel: [UInt8]) -> Bool { reconciler.isLive(channel) }

    /// The number of known channels.
    var channelCount: Int { reconciler.count }

    /// Wants a channel of a slot; returns `true` when it is live already.
    func want(_ channel: [UInt8], slot: Int) -> Bool { reconciler.want(channel, slot: slot) }

    /// Stops wanting a channel.
    func unwant(_ channel: [UInt8]) { reconciler.unwant(channel) }

    /// Subscribes again to channels that were refused or taken away.
    func retry(_ channels: [[UInt8]]) { reconciler.retry(channels) }

    /// Sends the subscriptions and unsubscriptions that this tick has gathered.
    func flush() {
        guard facts != nil else { return }
        while let next = reconciler.next() {
            var call = next.subscribes ? RedisCall("SSUBSCRIBE") : RedisCall("SUNSUBSCRIBE")
            for channel in next.channels { call.append(channel) }
            var ping = RedisCall("PING")
            ping.append(decimal: next.number)
            guard socket?.send([call, ping]) == true else { return }
            statistics.sent.add(1)
        }
    }

    // MARK: RedisSocketOwner

    func socketReady(_ facts: ServerFacts) {
        self.facts = facts
        statistics.connects.add(1)
        reconciler.connected()
        owner.linkChanged(self, isLost: false)
        flush()
    }

    func socketReceived(_ value: RESPValue) {
        switch PushMessage(value) {
        case .message(let channel, let payload):
            owner.channelMessage(channel, payload)
        case .subscribed(let channel, _):
            if reconciler.confirmed(channel) { owner.channelLive(channel, on: self) }
        case .unsubscribed(let channel?, _):
            guard reconciler.unsubscribed(channel) else { return }
            let failure = RedisFailure(.moved, detail: "the slot has left")
            owner.channelsGone([channel], slot: HashSlot.of(channel), on: self, because: failure)
        case .unsubscribed(nil, _):
            break
        case .failure(let failure):
            statistics.count(failure)
            reconciler.refused(failure)
        case .pong(let text), .other(.string(let text)):
            answered(text)
        case .patternMessage, .patternSubscribed, .patternUnsubscribed:
            break
        case .other:
            reconnect(RedisFailure(.protocolViolation, detail: "not a push"))
        }
    }

    /// Takes the answer to the `PING` behind a call; before the first subscription Redis sends it in another form than
    /// a push.
    private func answered(_ text: [UInt8]) {
        guard let number = ASCII.decimal(text) else {
            return reconnect(RedisFailure(.protocolViolation, detail: "not a push"))
        }
        switch reconciler.answered(number) {
        case .done: break
        case .refused(let slot, let channels, let failure):
            // The owner handles errors of the topology; any other error ends the connection.
            guard [.moved, .clusterDown, .tryAgain, .crossSlot, .noPermission].contains(failure.kind) else {
                return reconnect(failure)
            }
            owner.channelsGone(channels, slot: slot, on: self, because: failure)
        case .unexpected:
            return reconnect(RedisFailure(.protocolViolation, detail: "an answer without a question"))
        }
        flush()
    }

    func socketDown(_ failure: RedisFailure) {
        let wasReady = facts != nil
        facts = nil
        lastFailure = failure
        statistics.count(failure)
        reconciler.disconnected()
        owner.linkChanged(self, isLost: wasReady)
    }
}
