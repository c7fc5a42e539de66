import Bus
import Core
import Dialects
import Transports

/// The node's own channel: relayed messages of other nodes, and couriers' answers.
enum NodeInbox {
    /// Whether a message is a courier's answer.
    static func isAnswer(_ message: [UInt8]) -> Bool { message.first == UInt8(ascii: "!") }

    /// Finds the shard of a message, whose sender is not verified yet; `nil` when it is malformed.
    static func read(_ message: [UInt8], _ limits: Limits) -> InboxMessage? {
        if isAnswer(message) { return answer(message, limits) }
        // A relayed answer may contain a state of the maximum size; around it are at most a megabyte.
        guard message.count <= limits.answerBytesMax + 2 * EnginePayload.bytesMax,
            let shard = RelayEnvelope(message)?.shard
        else { return nil }
        return InboxMessage(shard: shard, bytes: message)
    }

    /// Reads `!SHARD.RANDOM WORD`, a line end, and the content.
    private static func answer(_ message: [UInt8], _ limits: Limits) -> InboxMessage? {
        let digits = message.dropFirst().prefix { ASCII.isDigit($0) }
        guard digits.count <= 4, let shard = ASCII.decimal(digits) else { return nil }
        // A larger answer cannot be parsed, and the waiting callers are notified now.
        let head = message.prefix(256).prefix { $0 != UInt8(ascii: "\n") }
        return InboxMessage(
            shard: shard, bytes: message.count <= limits.askAnswerBytesMax + 256 ? message : Array(head))
    }
}
