import Bus
import Core
import Dialects
import Fleet
import Transports

/// The node's own channel: relayed messages and questions of other nodes, and couriers' answers.
enum NodeInbox {
    /// Whether a message is a courier's answer.
    static func isAnswer(_ message: [UInt8]) -> Bool { message.first == UInt8(ascii: "!") }
    /// Whether a message is a question over all nodes, or a node's answer.
    static func isFleet(_ message: [UInt8]) -> Bool { NodeEnvelope.isFleet(message) }

    /// Finds the shard of a message, whose sender is not verified yet; `nil` when it is malformed.
    static func read(_ message: [UInt8], _ limits: Limits) -> InboxMessage? {
        if isAnswer(message) { return answer(message, limits) }
        // A relayed answer may contain a state of the maximum size; around it are at most a megabyte.
        let bytesMax =
            isFleet(message) ? FleetService.messageBytesMax : limits.answerBytesMax + 2 * EnginePayload.bytesMax
        guard message.count <= bytesMax else { return nil }
        return NodeEnvelope(message).map { InboxMessage(shard: $0.shard, bytes: message) }
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
