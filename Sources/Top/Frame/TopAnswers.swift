import Core

/// The answers of one round, as they came: of the nodes, and of Redis.
///
/// The texts are JSON that other processes have written, as untrusted as any other input.
struct TopAnswers {
    /// When the round ended, milliseconds since 1970.
    var wallMs = 0
    /// The cause for which there are no answers, in words for an operator; `nil` for a round that has them.
    var trouble: String?
    /// Whether the cause may pass in a moment, as while links are being dialled.
    var mayPass = false
    /// Gateways that have announced themselves.
    var announced = 0
    /// JSON array of the rows of all processes; `nil` when nobody was asked.
    var nodes: [UInt8]?
    /// Gateways without an answer, each with the word for the cause.
    var missing: [(id: String, cause: String)] = []
    /// Gateways that were live and have gone within the last hour: the seconds since.
    var gone: [(id: String, seconds: Int)] = []
    /// JSON arrays of the rows of the lists that were asked for, with the number of all things that match.
    var lists: [TopPane: (rows: [UInt8], total: Int)] = [:]
    /// JSON object about the outbox; `nil` when Redis did not say.
    var outbox: [UInt8]?
    /// JSON array about the receivers of webhooks; `nil` when Redis did not say.
    var webhooks: [UInt8]?
    /// Dead letters of these receivers, by name.
    var webhooksDead: [String: Int] = [:]
    /// The figures of Redis.
    var redis = TopRedis()

    /// All of it as one line of JSON.
    var json: [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "time", string: Timestamp.text(wallMs: wallMs))
        text.append(member: "trouble", stringOrNull: trouble?.utf8)
        text.append(member: "nodes", json: nodes ?? Array("[]".utf8))
        text.append(member: "unanswered")
        text.append(arrayOf: missing) { text, one in
            text.append(UInt8(ascii: "{"))
            text.append(member: "node", string: one.id)
            text.append(member: "reason", string: one.cause)
            text.append(UInt8(ascii: "}"))
        }
        text.append(member: "topics", json: lists[.topics]?.rows ?? Array("[]".utf8))
        text.append(member: "slow", json: lists[.slow]?.rows ?? Array("[]".utf8))
        text.append(member: "talkers", json: lists[.talkers]?.rows ?? Array("[]".utf8))
        text.append(member: "outbox", json: outbox ?? Array("null".utf8))
        text.append(member: "webhooks", json: webhooks ?? Array("null".utf8))
        text.append(member: "redis", json: "{".utf8)
        text.append(member: "latencyUs", numberOrNull: redis.latencyUs)
        text.append(member: "usedBytes", numberOrNull: redis.usedBytes)
        text.append(member: "maxBytes", numberOrNull: redis.boundBytes)
        text.append(text: "}}" as StaticString)
        return TopAnswers.ascii(text)
    }

    /// The same JSON on one line and in ASCII, so that no text in it can control a terminal.
    ///
    /// Outside of strings a JSON text has only ASCII, and inside no control characters.
    private static func ascii(_ json: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(json.count)
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            if unit >= 0x20 && unit < 0x7f {
                text.append(UInt8(truncatingIfNeeded: unit))
            } else if unit < 0x20 {
                text.append(UInt8(ascii: " "))
            } else {
                let digits = String(unit, radix: 16)
                text += Array(("\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits).utf8)
            }
        }
        return text
    }
}
