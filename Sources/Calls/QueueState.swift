import Core
import RedisLink

/// The entries of a stream, and the last one.
///
/// Pure.
struct QueueState: Equatable {
    let entries: Int
    /// Age of the oldest entry, milliseconds; 0 without entries.
    let oldestMs: Int
    /// The time of the last entry, milliseconds since 1970; 0 without entries.
    let lastMs: Int
    /// The reason that the last entry names; empty without one.
    let reason: [UInt8]

    /// Reads three numbers and a text; `nil` for any other reply.
    init?(_ words: [RESPValue]) {
        let numbers = words.prefix(3).compactMap(\.integer)
        guard words.count == 4, numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }), let reason = words[3].bytes else {
            return nil
        }
        (entries, oldestMs, lastMs) = (numbers[0], numbers[1], numbers[2])
        self.reason = reason
    }

    /// Appends the member `lastError` for a stream of what was given up.
    func appendLastError(to text: inout [UInt8]) { QueueState.appendError(atMs: lastMs, reason, to: &text) }

    /// Appends the member `lastError`: null, or time and reason.
    static func appendError(atMs: Int, _ reason: [UInt8], to text: inout [UInt8]) {
        text.append(member: "lastError")
        guard Timestamp.range.contains(atMs), atMs > 0 else { return text.append(text: "null" as StaticString) }
        text.append(UInt8(ascii: "{"))
        text.append(member: "at", string: Timestamp.text(wallMs: atMs))
        text.append(member: "reason", string: PrintableText.clean(String(decoding: reason, as: UTF8.self)))
        text.append(UInt8(ascii: "}"))
    }
}
