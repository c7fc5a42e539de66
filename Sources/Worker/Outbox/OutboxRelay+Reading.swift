import Core
import Reactors
import RedisLink

/// Reading the streams of the outbox.
extension OutboxRelay {
    /// Reads a stream.
    func read(_ stream: OutboxStream, _ step: LaneReading.Step) {
        var command = RedisCall("XRANGE", parts.keys.outbox(stream))
        switch step {
        case .new(nil): command.append("-")
        case .new(let last?): command.append([UInt8(ascii: "(")] + last.text)
        case .again(let first): command.append(first.text)
        }
        command.append("+")
        command.append("COUNT")
        let count = batch.count
        command.append(decimal: count)
        let current = generation
        link.call(command) { [weak self] result in
            guard let self, generation == current else { return }
            guard case .success(let reply) = result else {
                return streams.readFailed(stream, nowMs: reactor.nowMs)
            }
            take(reply.elements ?? [], of: stream, asked: count)
        }
    }

    private func take(_ elements: [RESPValue], of stream: OutboxStream, asked count: Int) {
        let isTagged = parts.keys.layout == .tagged
        let entries = elements.compactMap { OutboxEntry($0, stream: stream, isTagged: isTagged) }
        let seen = entries.map { LaneReading.Seen(id: $0.place, payer: $0.payer, parts: $0.parts.count) }
        let isFull = elements.count >= count
        batch.read(bytes: entries.reduce(0) { $0 + $1.byteCount }, isFull: isFull)
        for index in streams.read(stream, seen, isFull: isFull) {
            let entry = entries[index]
            let payer = RelayPayer(name: entry.payer, isFollowUp: stream.isFollowUp)
            for part in entry.parts {
                queue.add(Queue.Entry(line: Queue.Line(payer: payer, target: target(part)), item: part))
            }
        }
    }

    /// Finds the slots that have an entry in one of their streams.
    func look(_ slots: Range<Int>) {
        var (found, left, failed) = ([Int](), slots.count, false)
        let current = generation
        for slot in slots {
            var command = RedisCall("EXISTS")
            for name in parts.keys.outboxes(of: slot) { command.append(name) }
            link.call(command) { [weak self] result in
                if case .success(let value) = result, value.integer != 0 { found.append(slot) }
                if case .failure = result { failed = true }
                left -= 1
                guard let self, left == 0, generation == current else { return }
                streams.looked(found, failed: failed, nowMs: reactor.nowMs)
            }
        }
    }
}
