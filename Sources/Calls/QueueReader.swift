public import Core
public import Operations
import Reactors
public import RedisLink

/// Reads the work that waits in Redis for workers and couriers, for operators.
///
/// Replies are as untrusted as any other input. Thread: the shard's.
public final class QueueReader {
    /// Takes a JSON text, or the refusal of the store.
    public typealias Completion = (Result<[UInt8], Refusal>) -> Void

    private let link: any RedisCalls
    private let keys: Keys
    private let services: [String]
    private let figures: NodeFigures

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")

    /// Reads by `link`; `services` are the outside services that scripts call, and `figures` has what is read anyway.
    public init(link: any RedisCalls, keys: Keys, services: [String], figures: NodeFigures) {
        (self.link, self.keys, self.services, self.figures) = (link, keys, services, figures)
    }

    private func ask<Answer>(
        _ script: StaticString, _ keys: [[UInt8]], _ argument: Int? = nil,
        _ completion: @escaping (Result<Answer, Refusal>) -> Void, _ read: @escaping ([RESPValue]) -> Answer?
    ) {
        var call = RedisCall("EVAL")
        call.append(script)
        call.append(decimal: keys.count)
        for key in keys { call.append(key) }
        if let argument { call.append(decimal: argument) }
        link.call(call) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let answer = value.elements.flatMap(read) else { return .failure(QueueReader.nonsense) }
                    return .success(answer)
                })
        }
    }

    /// Reads streams, and of the first `lastCount` also the last entry.
    private func askStreams(
        _ streams: [[UInt8]], lastCount: Int, _ completion: @escaping Completion,
        _ write: @escaping ([QueueState]) -> [UInt8]?
    ) {
        ask(QueueReader.streamsScript, streams, lastCount, completion) { reply in
            let states = reply.compactMap { $0.elements.flatMap(QueueState.init) }
            return states.count == streams.count ? write(states) : nil
        }
    }

    // MARK: The outbox

    /// Reads each stream of the outbox and the last entry that was given up.
    ///
    /// With tagged names there are too many streams. Then the sums are those that a worker has stored, null without one,
    /// and the streams are not listed.
    public func outbox(_ completion: @escaping Completion) {
        let streams = keys.layout == .tagged ? [] : keys.outboxes(of: 0)
        let stored = keys.layout == .tagged ? figures.outbox.withLock { $0.figures } : nil
        askStreams([keys.outboxDead] + streams, lastCount: 1, completion) { [keys] states in
            let lanes = zip(streams, states.dropFirst()).filter { $0.1.entries > 0 }
            let read = OutboxFigures(
                entries: lanes.reduce(0) { $0 &+ $1.1.entries }, oldestMs: lanes.map(\.1.oldestMs).max() ?? 0)
            let sums = keys.layout == .tagged ? stored : read
            var text: [UInt8] = [UInt8(ascii: "{")]
            text.append(member: "entries", numberOrNull: sums?.entries)
            text.append(member: "oldestSeconds", numberOrNull: sums.map { $0.oldestMs / 1_000 })
            text.append(member: "lanes")
            if keys.layout == .tagged {
                text.append(text: "null" as StaticString)
            } else {
                text.append(arrayOf: lanes) { text, lane in
                    text.append(UInt8(ascii: "{"))
                    text.append(member: "lane", string: keys.restOfCommon(lane.0) ?? lane.0[...])
                    text.append(member: "entries", number: lane.1.entries)
                    text.append(member: "oldestSeconds", number: lane.1.oldestMs / 1_000)
                    text.append(UInt8(ascii: "}"))
                }
            }
            text.append(member: "dead", number: states[0].entries)
            states[0].appendLastError(to: &text)
            return text + [UInt8(ascii: "}")]
        }
    }

    // MARK: Workers

    /// Reads the number of partitions that each live worker holds, by its name.
    public func partitions(_ completion: @escaping (Result<[[UInt8]: Int], Refusal>) -> Void) {
        ask(QueueReader.workersScript, [keys.workers, keys.leases], nil, completion) { words in
            guard words.count.isMultiple(of: 2) else { return nil }
            var counts: [[UInt8]: Int] = [:]
            for index in stride(from: 0, to: words.count, by: 2) {
                if let name = words[index].bytes { counts[name] = max(0, words[index + 1].integer ?? 0) }
            }
            return counts
        }
    }

    // MARK: Couriers

    /// Reads the last calls of each outside service that were given up; the other figures are those of this node.
    public func services(_ completion: @escaping Completion) {
        let (names, known) = (services, figures.calls.withLock { $0 })
        guard !names.isEmpty else { return completion(.success(Array("[]".utf8))) }
        askStreams(names.map { keys.callsDead(of: $0) }, lastCount: names.count, completion) { dead in
            var text: [UInt8] = []
            text.append(arrayOf: zip(names, dead)) { text, service in
                let calls = known[service.0]
                text.append(UInt8(ascii: "{"))
                text.append(member: "service", string: service.0)
                text.append(member: "waiting", numberOrNull: calls?.waiting)
                text.append(member: "oldestSeconds", numberOrNull: calls.map { $0.oldestMs / 1_000 })
                text.append(member: "dead", number: service.1.entries)
                text.append(member: "served", json: (calls.map { "\($0.hasCourier)" } ?? "null").utf8)
                service.1.appendLastError(to: &text)
                text.append(UInt8(ascii: "}"))
            }
            return text
        }
    }

    // MARK: Webhooks

    /// Reads the state of each receiver that a courier has served within a day.
    public func webhooks(_ completion: @escaping Completion) {
        ask(QueueReader.webhooksScript, [keys.webhookFigures], nil, completion) { reply in
            guard let nowMs = reply.first?.integer else { return nil }
            var receivers: [String: (couriers: Int, figures: WebhookFigures)] = [:]
            for index in stride(from: 1, to: reply.count - 1, by: 2) {
                guard let field = reply[index].bytes, let value = reply[index + 1].bytes,
                    let space = value.firstIndex(of: UInt8(ascii: " ")), let ends = ASCII.decimal(value[..<space]),
                    let figures = WebhookFigures(value[(space + 1)...])
                else { continue }
                let name = PrintableText.clean(
                    String(decoding: field.prefix { $0 != UInt8(ascii: " ") }.prefix(128), as: UTF8.self))
                let (isLive, known) = (ends > nowMs, receivers[name])
                guard let known, known.couriers > 0 || !isLive else {
                    receivers[name] = (isLive ? 1 : 0, figures)
                    continue
                }
                if isLive { receivers[name] = (known.couriers + 1, known.figures + figures) }
            }
            var text: [UInt8] = []
            text.append(arrayOf: receivers.sorted { $0.key < $1.key }) { text, receiver in
                QueueReader.append(receiver.key, receiver.value.couriers, receiver.value.figures, to: &text)
            }
            return text
        }
    }

    private static func append(_ name: String, _ couriers: Int, _ figures: WebhookFigures, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "{"))
        text.append(member: "receiver", string: name)
        text.append(member: "couriers", number: couriers)
        text.append(member: "topicsBusy", number: figures.busy)
        text.append(member: "topicsWaiting", number: figures.waiting)
        text.append(member: "away", json: (figures.isAway ? "true" : "false").utf8)
        text.append(member: "oldestSeconds", number: figures.oldestMs / 1_000)
        QueueState.appendError(atMs: figures.failedMs, Array(figures.reason.utf8), to: &text)
        text.append(UInt8(ascii: "}"))
    }
}
