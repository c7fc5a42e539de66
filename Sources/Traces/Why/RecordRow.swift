public import Core

/// The form in which a shard tells of its record as a whole: one JSON object.
///
/// Pure.
public enum RecordRow {
    /// The member `kind`, which no session has.
    public static let kind = "record"

    /// Writes the row of a shard.
    ///
    /// `sinceMs` is the time from which on nothing is missing, milliseconds since 1970; `nil` when nothing is kept.
    /// `otherSessions` are the open sessions without a subscription to the topic in question, and `fates` the numbers of
    /// subscriptions by the event's fate.
    public static func text(
        node: [UInt8], shard: Int, sinceMs: Int?, otherSessions: Int, fates: [EventFate.Word: Int],
        gone: [WhyFacts.GoneNode]
    ) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "kind", string: kind)
        text.append(member: "node", string: node)
        text.append(member: "shard", number: shard)
        text.append(member: "since", stringOrNull: sinceMs.map { Timestamp.text(wallMs: $0).utf8 })
        text.append(member: "otherSessions", number: otherSessions)
        text.append(member: "fates", json: FateCounts.text(fates))
        text.append(member: "gone")
        text.append(arrayOf: gone) { text, node in
            text.append(UInt8(ascii: "{"))
            text.append(member: "node", string: node.name)
            text.append(member: "seen", string: Timestamp.text(wallMs: node.seenMs))
            text.append(UInt8(ascii: "}"))
        }
        return text + [UInt8(ascii: "}")]
    }
}

/// The numbers of subscriptions by the fate of an event, in the order of the words.
public enum FateCounts {
    /// Writes a JSON object; fates that no subscription has are left out.
    public static func text(_ counts: [EventFate.Word: Int]) -> [UInt8] {
        var text = Array("{".utf8)
        for word in EventFate.Word.allCases {
            guard let count = counts[word], count > 0 else { continue }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(jsonString: word.rawValue)
            text.append(UInt8(ascii: ":"))
            text.append(decimal: count)
        }
        return text + [UInt8(ascii: "}")]
    }

    /// Adds what ``text(_:)`` wrote; other members are ignored.
    public static func add(_ json: JSON.Value, to counts: inout [EventFate.Word: Int]) {
        for member in json.members {
            guard let word = EventFate.Word(rawValue: member.name), let count = member.int, count > 0 else { continue }
            let sum = counts[word, default: 0].addingReportingOverflow(count)
            counts[word] = sum.overflow ? Int.max : sum.partialValue
        }
    }
}
