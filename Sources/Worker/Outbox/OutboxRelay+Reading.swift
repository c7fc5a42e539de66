import Core
import Reactors
import RedisLink

/// Reading the streams of the outbox.
extension OutboxRelay {
    /// Reads a stream behind an entry; `nil`: from its start.
    func read(_ index: Int, after last: [UInt8]?) {
        var command = RedisCall("XRANGE", parts.keys.outbox(at: index))
        command.append(last.map { [UInt8(ascii: "(")] + $0 } ?? [UInt8(ascii: "-")])
        command.append("+")
        command.append("COUNT")
        command.append(decimal: min(OutboxRelay.batch, parts.limits.relayWindowMax))
        let current = generation
        link.call(command) { [weak self] result in
            guard let self, generation == current else { return }
            guard case .success(let reply) = result else {
                return streams.readFailed(index, nowMs: reactor.nowMs)
            }
            take(reply.elements ?? [], of: index)
        }
    }

    private func take(_ elements: [RESPValue], of index: Int) {
        var (last, count) = ([UInt8]?.none, 0)
        for element in elements {
            // One entry may have a thousand parts. Those beyond the window are read again.
            guard queue.count < parts.limits.relayWindowMax else { break }
            guard let entry = OutboxEntry(element, stream: parts.keys.outboxCount > 1 ? index : nil) else { continue }
            last = entry.id
            count += entry.parts.count
            book.began(entry)
            for part in entry.parts { queue.add(Queue.Entry(id: entry.id, lane: lane(part), item: part)) }
        }
        streams.read(index, last: last, parts: count, isMore: !elements.isEmpty)
    }

    /// Asks which of the streams have something.
    func look(_ range: Range<Int>) {
        var (found, left) = ([Int](), range.count)
        let current = generation
        for index in range {
            link.call(RedisCall("XLEN", parts.keys.outbox(at: index))) { [weak self] result in
                if case .success(let value) = result, value.integer != 0 { found.append(index) }
                left -= 1
                guard let self, left == 0, generation == current else { return }
                streams.looked(found)
            }
        }
    }
}
