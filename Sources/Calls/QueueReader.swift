public import Core
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

    private static let nonsense = Refusal(.internalError, "the store answered something that cannot be")

    /// Reads by `link`; `services` are the outside services that scripts call.
    public init(link: any RedisCalls, keys: Keys, services: [String]) {
        (self.link, self.keys, self.services) = (link, keys, services)
    }

    private func ask(
        _ script: StaticString, _ keys: [[UInt8]], _ completion: @escaping Completion,
        _ write: @escaping ([RESPValue]) -> [UInt8]?
    ) {
        var call = RedisCall("EVAL")
        call.append(script)
        call.append(decimal: keys.count)
        for key in keys { call.append(key) }
        link.call(call) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let text = value.elements.flatMap(write) else { return .failure(QueueReader.nonsense) }
                    return .success(text)
                })
        }
    }

    // MARK: The outbox

    /// Reads each stream of the outbox and the last entry that was given up.
    ///
    /// With tagged names there are too many streams: then only those of the common slot are read.
    public func outbox(_ completion: @escaping Completion) {
        let slot = keys.layout == .tagged ? HashSlot.of(keys.outbox) : 0
        let streams = keys.outboxes(of: slot)
        ask(QueueReader.streamsScript, [keys.outboxDead] + streams, completion) { [keys] reply in
            guard let dead = reply.first?.elements.flatMap(QueueState.init), reply.count == streams.count + 1 else {
                return nil
            }
            var lanes: [(name: [UInt8], state: QueueState)] = []
            for (name, value) in zip(streams, reply.dropFirst()) {
                guard let state = value.elements.flatMap(QueueState.init) else { return nil }
                if state.entries > 0 { lanes.append((Array(keys.restOfCommon(name) ?? name[...]), state)) }
            }
            var text: [UInt8] = [UInt8(ascii: "{")]
            text.append(member: "entries", number: lanes.reduce(0) { $0 &+ $1.state.entries })
            text.append(member: "oldestSeconds", number: (lanes.map(\.state.oldestMs).max() ?? 0) / 1_000)
            text.append(member: "lanes")
            text.append(arrayOf: lanes) { text, lane in
                text.append(UInt8(ascii: "{"))
                text.append(member: "lane", string: lane.name)
                text.append(member: "entries", number: lane.state.entries)
                text.append(member: "oldestSeconds", number: lane.state.oldestMs / 1_000)
                text.append(UInt8(ascii: "}"))
            }
            text.append(member: "dead", number: dead.entries)
            dead.appendLastError(to: &text)
            return text + [UInt8(ascii: "}")]
        }
    }

    // MARK: Workers

    /// Reads the number of partitions that each live worker holds, by its name.
    public func partitions(_ completion: @escaping (Result<[[UInt8]: Int], Refusal>) -> Void) {
        var call = RedisCall("EVAL")
        call.append(QueueReader.workersScript)
        call.append(decimal: 2)
        call.append(keys.workers)
        call.append(keys.leases)
        link.call(call) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let words = value.elements, words.count.isMultiple(of: 2) else {
                        return .failure(QueueReader.nonsense)
                    }
                    var counts: [[UInt8]: Int] = [:]
                    for index in stride(from: 0, to: words.count, by: 2) {
                        if let name = words[index].bytes { counts[name] = max(0, words[index + 1].integer ?? 0) }
                    }
                    return .success(counts)
                })
        }
    }

    // MARK: Couriers

    /// Reads the calls of each outside service.
    public func services(_ completion: @escaping Completion) {
        let names = services
        guard !names.isEmpty else { return completion(.success(Array("[]".utf8))) }
        let wanted = names.flatMap { [keys.calls(of: $0), keys.callsDead(of: $0), keys.courier(of: $0)] }
        ask(QueueReader.servicesScript, wanted, completion) { reply in
            guard reply.count == 3 * names.count else { return nil }
            var text: [UInt8] = []
            var isWhole = true
            text.append(arrayOf: names.enumerated()) { text, service in
                let parts = reply[(3 * service.offset)...].prefix(3).map { $0 }
                guard let calls = parts[0].elements.flatMap(QueueState.init),
                    let dead = parts[1].elements.flatMap(QueueState.init)
                else { return isWhole = false }
                text.append(UInt8(ascii: "{"))
                text.append(member: "service", string: service.element)
                text.append(member: "waiting", number: calls.entries)
                text.append(member: "oldestSeconds", number: calls.oldestMs / 1_000)
                text.append(member: "dead", number: dead.entries)
                text.append(member: "served", json: (parts[2].integer == 1 ? "true" : "false").utf8)
                dead.appendLastError(to: &text)
                text.append(UInt8(ascii: "}"))
            }
            return isWhole ? text : nil
        }
    }

    // MARK: Webhooks

    /// Reads the state of each receiver that a courier has served within a day.
    public func webhooks(_ completion: @escaping Completion) {
        ask(QueueReader.webhooksScript, [keys.webhookFigures], completion) { reply in
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
