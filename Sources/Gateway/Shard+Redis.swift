import Core
import Reactors
import RedisLink
import Transport

/// A shard's part in proving that its links lead where they should.
extension Shard {
    /// Which server the links of a shard lead to: the broker finds it out for all of them.
    static func board(_ node: Node) -> ServerBoard {
        guard node.redis.hasSentinels else { return ServerBoard(fixed: node.redis.url) }
        let broker = node.broker
        return ServerBoard { _ = broker.send(.servers($0)) }
    }

    /// The link that asks for replicas; `nil` where nothing waits for them.
    static func wait(
        _ node: Node, _ context: ConnectionContext, _ board: ServerBoard, _ index: Int
    ) throws(Errno) -> ReplicaWait? {
        guard node.redisWait > 0 else { return nil }
        return try ReplicaWait(
            context, node.redis, board, name: "switchboard-\(node.name)-shard-\(index)-wait",
            replicas: node.redisWait, waitMs: node.limits.redisWaitMs)
    }

    /// Writes and publishes a number by the link that publishes go by; the broker's link must bring it back.
    ///
    /// PUBLISH alone works where nothing can be written: on a replica, while data are loaded, and where replicas are
    /// missing. So a key is written in the same script, which stands for a moment.
    func probe(_ number: Int) {
        var payload: [UInt8] = []
        payload.append(decimal: index)
        payload.append(UInt8(ascii: " "))
        payload.append(decimal: number)
        var call = RedisCall("EVAL")
        call.append(
            "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return redis.call('PUBLISH', KEYS[1], ARGV[1])")
        call.append(decimal: 1)
        call.append(node.probeChannel)
        call.append(payload)
        call.append(decimal: limits.redisProbeTimeoutMs)
        link.call(call) { [node, index] result in
            guard let failure = result.failure else { return }
            // What says nothing of the write is found out by the number that does not come back.
            switch failure.kind {
            case .timedOut, .disconnected, .inFlightFull: return
            default: _ = node.broker.send(.probeRefused(shard: index, number: number, failure))
            }
        }
        link.recheck()
        replicas?.recheck()
    }

    /// Takes where the servers are now, and says that nothing leads elsewhere any more.
    func use(_ map: ServerMap) {
        board.take(map)
        _ = node.broker.send(.moved(shard: index, generation: map.generation))
    }
}
