public import Commands
public import Core
import RedisLink
public import Rights

/// Reads for an operator's question about one event.
extension EventLog {
    /// An offset of a log as Redis knows it.
    public struct Traced: Sendable {
        /// The position of the newest event; `nil` when the topic has none.
        public var top: Position?
        /// The oldest offset kept, 0 when the log is empty.
        public var first: Int
        /// The event; `nil` when the log does not have it.
        public var event: ChannelMessage?
        /// When it was published, milliseconds since 1970; `nil` when that is not known.
        public var atMs: Int?
    }

    /// Users who block each other, as far as a question needs them.
    public struct Blocks: Sendable {
        /// A few of the users whom the user blocks.
        public var blocks: [String]
        /// A few of the users who block the user.
        public var blockedBy: [String]
        /// The other user of a direct conversation, when one of the two blocks the other.
        public var partner: String?
    }

    private static let blocksMax = 8

    /// Reads an event of the log, and when it was published; the payer's budget is charged.
    public func trace(
        _ topic: Topic, offset: Int, payer: Payer, _ completion: @escaping (Result<Traced, Refusal>) -> Void
    ) {
        history(topic, after: max(offset - 1, 0), limit: 1, payer: payer) { [self] result in
            switch result {
            case .failure(let refusal): completion(.failure(refusal))
            case .success(let page):
                let event = page.events.first.flatMap { $0.position?.offset == offset ? $0 : nil }
                var traced = Traced(top: page.top, first: page.first, event: event, atMs: nil)
                guard event != nil else { return completion(.success(traced)) }
                readTime(topic, offset) {
                    traced.atMs = $0
                    completion(.success(traced))
                }
            }
        }
    }

    /// Reads the time of an entry of the log; `nil` when Redis does not tell it.
    private func readTime(_ topic: Topic, _ offset: Int, _ completion: @escaping (Int?) -> Void) {
        let id = EventLog.decimal(offset) + Array("-0".utf8)
        link.call(RedisCall("XRANGE", keys.log(topic), id, id)) { result in
            guard case .success(let value) = result, let entry = value.elements?.first?.elements, entry.count == 2,
                let fields = entry[1].elements
            else { return completion(nil) }
            for index in stride(from: 0, to: fields.count - 1, by: 2) where fields[index].bytes == [UInt8(ascii: "t")] {
                return completion(EventLog.number(fields[index + 1]))
            }
            completion(nil)
        }
    }

    /// Reads who blocks whom, from the sets of those names.
    public func blocks(
        of user: [UInt8], on topic: Topic, _ names: BlockNames,
        _ completion: @escaping (Result<Blocks, Refusal>) -> Void
    ) {
        some(of: user, names.blocks) { [self] blocks in
            some(of: user, names.blockers) { [self] blockers in
                guard case .success(let blocks) = blocks, case .success(let blockers) = blockers else {
                    return completion(.failure(.storeUnavailable))
                }
                let found = Blocks(blocks: blocks, blockedBy: blockers, partner: nil)
                partner(of: user, on: topic, names.pair, found, completion)
            }
        }
    }

    /// Adds the other user where the topic's id is that of two users, one of whom blocks the other.
    private func partner(
        of user: [UInt8], on topic: Topic, _ pair: BlockNames.Key?, _ found: Blocks,
        _ completion: @escaping (Result<Blocks, Refusal>) -> Void
    ) {
        guard let pair, let (home, other) = pair.home(of: user, on: topic) else { return completion(.success(found)) }
        link.call(RedisCall("SCARD", keys.domain(home, facet: pair.facet, member: nil))) { result in
            completion(
                result.mapError(\.refusal).map { value in
                    var found = found
                    if let count = value.integer, count > 0 { found.partner = String(decoding: other, as: UTF8.self) }
                    return found
                })
        }
    }

    private func some(
        of user: [UInt8], _ name: BlockNames.Key?, _ completion: @escaping (Result<[String], Refusal>) -> Void
    ) {
        guard let name, let home = name.home(of: user) else { return completion(.success([])) }
        let key = keys.domain(home, facet: name.facet, member: nil)
        link.call(RedisCall("SRANDMEMBER", key, EventLog.decimal(EventLog.blocksMax))) { result in
            completion(
                result.mapError(\.refusal).map { value in
                    (value.elements ?? []).compactMap { $0.bytes.map { String(decoding: $0, as: UTF8.self) } }.sorted()
                })
        }
    }
}
