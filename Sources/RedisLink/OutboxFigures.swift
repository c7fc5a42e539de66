public import Core

/// The number of waiting entries in the outbox, and the age of the oldest.
public struct OutboxFigures: Equatable, Sendable {
    /// Entries in all its streams.
    public var entries: Int
    /// Age of the oldest entry by Redis's clock, milliseconds; 0 without entries.
    public var oldestMs: Int

    /// Makes figures.
    public init(entries: Int, oldestMs: Int) {
        (self.entries, self.oldestMs) = (entries, oldestMs)
    }

    /// Reads the reply of `outbox_figures.lua`; `nil` for any other reply.
    public init?(_ reply: RESPValue) {
        guard let numbers = reply.elements?.map(\.integer), numbers.count == 2, let entries = numbers[0],
            let oldestMs = numbers[1]
        else { return nil }
        self.init(entries: entries, oldestMs: oldestMs)
    }

    /// Reads ``text``; `nil` for any other text.
    public init?(_ text: [UInt8]) {
        let words = text.split(separator: UInt8(ascii: " ")).map { ASCII.decimal($0) }
        guard words.count == 2, let entries = words[0], let oldestMs = words[1] else { return nil }
        self.init(entries: entries, oldestMs: oldestMs)
    }

    /// Both numbers, as a worker stores them for gateways.
    public var text: [UInt8] { Array("\(entries) \(oldestMs)".utf8) }

    /// The combined figures of two parts of the outbox.
    public static func + (left: OutboxFigures, right: OutboxFigures) -> OutboxFigures {
        OutboxFigures(entries: left.entries + right.entries, oldestMs: max(left.oldestMs, right.oldestMs))
    }

    /// Asks for the figures of the streams of one slot.
    public static func call(_ script: ScriptID, _ keys: Keys, slot: Int) -> ScriptCall {
        ScriptCall(script: script, keys: keys.outboxes(of: slot), arguments: [])
    }
}
