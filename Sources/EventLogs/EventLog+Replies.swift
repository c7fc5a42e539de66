import Commands
public import Core
public import RedisLink
import Topics

/// Checks of replies, and their conversion into values.
extension EventLog {
    static let nonsense = Refusal(.internalError, "the store answered something that cannot be")

    /// A number as decimal text, as scripts take it.
    public static func decimal(_ value: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: value)
        return text
    }

    /// The number of an integer reply or of decimal text; `nil` for any other reply.
    public static func number(_ value: RESPValue) -> Int? {
        value.integer ?? value.bytes.flatMap { ASCII.decimal($0) }
    }

    /// Parses epoch, offset and the outcome of the event, once for each event.
    static func outcomes(_ value: RESPValue, count: Int) -> Outcomes? {
        PublishCall.PublishResult.read(value, count: count) { told in
            guard let position = told.position else {
                return .failure(Refusal(.conflict, "this id was used for another event or other data"))
            }
            return .success(PublishReceipt(position: position, isDuplicate: told.outcome == .duplicate))
        }
    }

    /// The position of two replies; `nil` when either is malformed.
    public static func position(_ epoch: RESPValue, _ offset: RESPValue) -> Position? {
        guard let epoch = epoch.bytes, let offset = number(offset) else { return nil }
        return Position(epoch: epoch, offset: offset)
    }

    /// Parses the answer to a read of the log up to its end, or up to an offset; `before` is 0 for the end.
    static func answer(
        _ value: RESPValue, _ order: LogRead.Order, before: Int, json: JSON.Limits
    ) -> LogRead.Answer? {
        guard let fields = value.elements, fields.count >= 4, let position = position(fields[0], fields[1]),
            let entries = fields[3].elements
        else { return nil }
        // An entry that must not reach clients is a hole, like a missing one.
        let events = entries.map { event($0, epoch: position.epoch, json: json) }
        let last = before > 0 ? min(position.offset, before - 1) : position.offset
        return LogRead.Answer(
            position: position, events: LogRead.consecutive(events, order, upTo: last),
            state: fields.count > 4 ? state(fields[4], json: json) : nil)
    }

    /// A state is a JSON object or none: others write it, so it is checked before it is spliced into a frame.
    static func state(_ value: RESPValue, json: JSON.Limits) -> [UInt8]? {
        guard let text = value.bytes, let parsed = try? JSON(parsing: text, limits: json), parsed.root.kind == .object
        else { return nil }
        return Array(parsed.root.raw)
    }

    /// An entry of the log; `nil` when it is not what the publish script writes, or may not reach a client.
    static func event(_ entry: RESPValue, epoch: [UInt8], json: JSON.Limits) -> ChannelMessage? {
        guard let fields = entry.elements, fields.count >= 3, let offset = number(fields[0]),
            let position = Position(epoch: epoch, offset: offset),
            let event = fields[1].bytes.flatMap({ EventName($0) }), !event.isReserved, let data = fields[2].bytes,
            let parsed = try? JSON(parsing: data, limits: json), parsed.root.kind == .object
        else { return nil }
        let id = fields.count > 3 ? fields[3].bytes.flatMap { MessageID($0) } : nil
        return ChannelMessage(position: position, event: event, id: id, data: data)
    }
}
