public import Connections
internal import Core
public import Reactors

/// The callbacks of a subscriber link.
///
/// Thread: the reactor's.
public protocol SubscriberLinkOwner: AnyObject {
    /// A channel is live from now on; earlier messages may have been missed.
    func channelLive(_ channel: [UInt8])
    /// A message arrived on a live channel.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// The connection was lost with every channel; ``channelLive(_:)`` is called for each when it is live again.
    func channelsLost(_ failure: RedisFailure)
}

/// The link that receives channels: it subscribes to the wanted channels, again after every reconnect.
///
/// Thread: the reactor's.
public final class SubscriberLink: RedisSocketOwner {
    private unowned let owner: any SubscriberLinkOwner
    private var socket: RedisSocket?
    private var reconciler: SubscriptionReconciler<[UInt8]>
    /// The facts that the server reported; `nil` while there is no connection.
    public private(set) var facts: ServerFacts?
    /// The last failure, for logs and readiness.
    public private(set) var lastFailure: RedisFailure?
    /// Figures, readable from any thread.
    public let statistics: RedisStatistics

    /// Makes a link and begins to dial.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String,
        owner: any SubscriberLinkOwner, statistics: RedisStatistics = RedisStatistics()
    ) throws(Errno) {
        self.statistics = statistics
        self.owner = owner
        reconciler = SubscriptionReconciler(
            batchMax: target.subscribeBatch, unconfirmedMax: target.subscribeBatch * 16)
        socket = RedisSocket(context, target, directory, name: name, owner: self)
        try socket?.start()
    }

    /// Ends the link.
    public func stop() {
        socket?.stop()
    }

    /// Gives up the connection and dials again.
    public func reconnect(_ failure: RedisFailure) {
        socket?.fail(failure)
    }

    /// The number of known channels: wanted, or not yet gone from the server.
    public var channelCount: Int { reconciler.count }

    /// Wants a channel; returns `true` when it is live already, otherwise ``SubscriberLinkOwner/channelLive(_:)``
    /// follows.
    public func want(_ channel: [UInt8]) -> Bool {
        let standing = reconciler.want(channel)
        if case .live = standing { return true }
        return false
    }

    /// Stops wanting a channel.
    public func unwant(_ channel: [UInt8]) {
        reconciler.unwant(channel)
    }

    /// Sends the subscriptions and unsubscriptions that this tick has gathered; called once in each tick.
    public func flush() {
        // Each tick comes here: a look at the facts would copy them.
        guard socket?.isReady == true else { return }
        while let action = reconciler.next() {
            var call: RedisCall
            let channels: [[UInt8]]
            switch action {
            case .subscribe(let list): (call, channels) = (RedisCall("SUBSCRIBE"), list)
            case .unsubscribe(let list): (call, channels) = (RedisCall("UNSUBSCRIBE"), list)
            }
            for channel in channels { call.append(channel) }
            guard socket?.send([call]) == true else { return }
            statistics.sent.add(1)
        }
    }

    // MARK: RedisSocketOwner

    func socketReady(_ facts: ServerFacts) {
        self.facts = facts
        statistics.connects.add(1)
        reconciler.connected()
        flush()
    }

    func socketReceived(_ value: RESPValue) {
        switch PushMessage(value) {
        case .message(let channel, let payload):
            owner.channelMessage(channel, payload)
        case .subscribed(let channel, _):
            if case .live = reconciler.confirmed(channel) { owner.channelLive(channel) }
            flush()
        case .unsubscribed(let channel, _):
            if let channel { _ = reconciler.unsubscribed(channel) }
            flush()
        case .failure(let failure):
            statistics.count(failure)
            reconnect(failure)
        case .pong, .patternMessage, .patternSubscribed, .patternUnsubscribed:
            break
        case .other:
            reconnect(RedisFailure(.protocolViolation, detail: "not a push"))
        }
    }

    func socketDown(_ failure: RedisFailure) {
        let wasReady = facts != nil
        facts = nil
        lastFailure = failure
        statistics.count(failure)
        guard wasReady else { return }
        reconciler.disconnected()
        owner.channelsLost(failure)
    }
}

@available(*, unavailable)
extension SubscriberLink: Sendable {}
