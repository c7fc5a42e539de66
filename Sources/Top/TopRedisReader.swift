import Calls
import Core
import Reactors
import RedisLink

/// Reads latency and memory of the servers, and the queues in Redis, for a round.
///
/// Thread: the reactor's.
struct TopRedisReader {
    let redis: WholeRedis
    let keys: Keys
    let queues: QueueReader

    /// The most receivers of webhooks whose dead letters are counted.
    private static let receiversMax = 64

    /// Adds the answers of Redis to the round; each is a part of it.
    func ask(_ round: TopRound) {
        askServers(round)
        askQueues(round)
    }

    private func askServers(_ round: TopRound) {
        let (began, pinged, informed) = (Clock.monotonicUs(), round.part(), round.part())
        redis.callEverywhere(RedisCall("PING")) { result in
            if case .success = result { round.answers.redis.latencyUs = Clock.monotonicUs() - began }
            pinged()
        }
        redis.callEverywhere(ServerFigures.question) { result in
            let servers = ((try? result.get()) ?? []).compactMap { ServerFigures($0) }
            if !servers.isEmpty {
                round.answers.redis.usedBytes = servers.reduce(0) { $0.addingReportingOverflow($1.usedBytes).0 }
            }
            if !servers.isEmpty, servers.allSatisfy({ $0.boundBytes > 0 }) {
                round.answers.redis.boundBytes = servers.reduce(0) { $0.addingReportingOverflow($1.boundBytes).0 }
            }
            informed()
        }
    }

    private func askQueues(_ round: TopRound) {
        let (outbox, webhooks) = (round.part(), round.part())
        let read: (OutboxFigures?) -> Void = { stored in
            queues.outbox { result in
                if case .success(let text) = result { round.answers.outbox = TopRedisReader.outbox(text, stored) }
                outbox()
            }
        }
        if keys.layout == .tagged {
            // There are too many streams: a worker adds them up.
            redis.link.call(RedisCall("GET", keys.outboxFigures)) { result in
                read((try? result.get())?.bytes.flatMap { OutboxFigures($0) })
            }
        } else {
            read(nil)
        }
        queues.webhooks { result in
            if case .success(let text) = result {
                round.answers.webhooks = text
                askDeadWebhooks(text, round)
            }
            webhooks()
        }
    }

    private func askDeadWebhooks(_ text: [UInt8], _ round: TopRound) {
        guard let document = try? JSON(parsing: text, limits: JSON.Limits(depthMax: 8, elementsMax: 100_000)) else {
            return
        }
        let receivers = document.root.members.lazy.compactMap { $0["receiver"]?.string }
        for receiver in receivers.prefix(TopRedisReader.receiversMax) {
            let end = round.part()
            redis.link.call(RedisCall("XLEN", keys.webhookDead(receiver))) { result in
                round.answers.webhooksDead[receiver] = (try? result.get())?.integer
                end()
            }
        }
    }

    /// The state of the outbox, with the sums that a worker has stored where the streams themselves were not read.
    private static func outbox(_ text: [UInt8], _ stored: OutboxFigures?) -> [UInt8] {
        guard let stored, let document = try? JSON(parsing: text, limits: JSON.Limits(depthMax: 8, elementsMax: 10_000))
        else { return text }
        var sums: [UInt8] = [UInt8(ascii: "{")]
        sums.append(member: "entries", number: stored.entries)
        sums.append(member: "oldestSeconds", number: stored.oldestMs / 1_000)
        sums.append(member: "dead", numberOrNull: document.root["dead"]?.int)
        sums.append(member: "lastError", json: document.root["lastError"].map { Array($0.raw) } ?? Array("null".utf8))
        return sums + [UInt8(ascii: "}")]
    }
}
