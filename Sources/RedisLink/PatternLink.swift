public import Connections
internal import Core
public import Reactors

/// The callbacks of a pattern link.
///
/// Thread: the reactor's.
public protocol PatternLinkOwner: AnyObject {
    /// Every pattern and channel is subscribed; earlier messages may have been missed.
    func patternsLive()
    /// A message arrived on a channel, subscribed by pattern or by name.
    func patternMessage(_ channel: [UInt8], _ payload: [UInt8])
    /// The connection was lost; ``patternsLive()`` is called again later.
    func patternsLost(_ failure: RedisFailure)
}

/// The link for keyspace events: a fixed list of patterns and channels, subscribed again after every reconnect.
///
/// It sends a `PING` regularly, since a dead server is as silent as a quiet one. Thread: the reactor's.
public final class PatternLink: RedisSocketOwner {
    private let reactor: Reactor
    private let patterns: [[UInt8]]
    private let channels: [[UInt8]]
    private let pingMs: Int
    private let pongMs: Int
    private unowned let owner: any PatternLinkOwner
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    /// The number of missing confirmations; `nil` while there is no connection.
    private var unconfirmed: Int?
    private var isAwaitingPong = false
    /// The last failure, for logs.
    public private(set) var lastFailure: RedisFailure?

    /// Makes a link and begins to dial; there is at least one pattern or channel.
    ///
    /// It sends a `PING` every `pingMs`, and gives up the connection when nothing arrives within `pongMs`.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String,
        patterns: [[UInt8]], channels: [[UInt8]],
        pingMs: Int, pongMs: Int, owner: any PatternLinkOwner
    ) throws(Errno) {
        reactor = context.reactor
        self.patterns = patterns
        self.channels = channels
        self.pingMs = pingMs
        self.pongMs = pongMs
        self.owner = owner
        timer = try ReactorTimer(context.reactor) { [unowned self] in timerFired() }
        socket = RedisSocket(context, target, directory, name: name, owner: self)
        try socket?.start()
    }

    /// Whether everything is subscribed.
    public var isLive: Bool { unconfirmed == 0 }

    /// Ends the link.
    public func stop() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
    }

    private func timerFired() {
        guard unconfirmed != nil else { return }
        guard !isAwaitingPong else {
            socket?.fail(RedisFailure(.timedOut))
            return
        }
        isAwaitingPong = true
        timer?.set(atMs: reactor.nowMs + pongMs)
        socket?.send([RedisCall("PING")])
    }

    /// Records that the server has sent something.
    private func heard() {
        guard isAwaitingPong else { return }
        isAwaitingPong = false
        timer?.set(atMs: reactor.nowMs + pingMs)
    }

    // MARK: RedisSocketOwner

    func socketReady(_ facts: ServerFacts) {
        unconfirmed = patterns.count + channels.count
        isAwaitingPong = false
        timer?.set(atMs: reactor.nowMs + pingMs)
        var calls: [RedisCall] = []
        for (list, name) in [(patterns, "PSUBSCRIBE" as StaticString), (channels, "SUBSCRIBE")] where !list.isEmpty {
            var call = RedisCall(name)
            for item in list { call.append(item) }
            calls.append(call)
        }
        socket?.send(calls)
    }

    func socketReceived(_ value: RESPValue) {
        heard()
        switch PushMessage(value) {
        case .message(let channel, let payload), .patternMessage(_, let channel, let payload):
            owner.patternMessage(channel, payload)
        case .subscribed, .patternSubscribed:
            guard let left = unconfirmed, left > 0 else { return }
            unconfirmed = left - 1
            if left == 1 { owner.patternsLive() }
        case .pong, .unsubscribed, .patternUnsubscribed:
            break
        case .failure(let failure):
            socket?.fail(failure)
        case .other:
            socket?.fail(RedisFailure(.protocolViolation, detail: "not a push"))
        }
    }

    func socketDown(_ failure: RedisFailure) {
        let wasReady = unconfirmed != nil
        unconfirmed = nil
        lastFailure = failure
        timer?.clear()
        if wasReady { owner.patternsLost(failure) }
    }
}

@available(*, unavailable)
extension PatternLink: Sendable {}
