import Configuration
import Core
import Reactors
public import RedisLink
import Rights
public import Service

/// Reads the secret that all nodes of one Redis share, and passes it to the shards.
///
/// A node that finds none stores its own. A Redis that lost its data thus gets the same secret again from a live node.
/// Thread: that of the first shard.
public final class RelaySecret {
    private let key: [UInt8]
    private let link: any RedisCalls
    private let log: Log
    /// Passes the secret on; false when a shard could not be notified.
    private let use: ([UInt8]) -> Bool
    private var own = SecureRandom.bytes(NodeSeal.secretBytes)
    /// Whether the secret was read on the current connection.
    private var isKnown = false
    private var isAsking = false
    private var hasToldFailure = false
    /// Number of sweeps until the next read.
    private var pause = 0
    /// The same after a failure: five seconds.
    private static let pauseMax = 20

    /// The secret is the value of `key`; each one that is read is passed to `use`.
    public init(key: [UInt8], link: any RedisCalls, log: Log, use: @escaping ([UInt8]) -> Bool) {
        self.key = key
        self.link = link
        self.log = log
        self.use = use
    }

    /// The link to Redis is new, and may lead to another server.
    public func linkIsNew() {
        isKnown = false
        isAsking = false
        pause = 0
        sweep()
    }

    /// Reads the secret until it is known; called four times a second.
    public func sweep() {
        guard !isKnown, !isAsking, link.isReady else { return }
        guard pause == 0 else { return pause -= 1 }
        isAsking = true
        var leave = RedisCall("SET", key, own)
        leave.append("NX")
        link.call(leave) { _ in }
        link.call(RedisCall("GET", key)) { [weak self] result in self?.took(result) }
    }

    private func took(_ result: Result<RESPValue, RedisFailure>) {
        isAsking = false
        guard case .success(let value) = result, let secret = value.bytes, secret.count == NodeSeal.secretBytes else {
            pause = RelaySecret.pauseMax
            guard !hasToldFailure, link.isReady else { return }
            hasToldFailure = true
            let detail = if case .failure(let failure) = result { failure.metricLabel } else { "malformed" }
            return log.write(
                .warn, "polling clients cannot reach sessions of other nodes",
                [("key", String(decoding: key, as: UTF8.self)), ("reason", detail)])
        }
        own = secret
        isKnown = use(secret)
    }
}
