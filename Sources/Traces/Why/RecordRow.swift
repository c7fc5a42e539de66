import Core

/// The form in which a shard tells of its record as a whole: one JSON object.
///
/// Pure.
public enum RecordRow {
    /// The member `kind`, which no session has.
    public static let kind = "record"

    /// Writes the row of a shard.
    ///
    /// `sinceMs` is the time from which on nothing is missing, milliseconds since 1970; `nil` when nothing is kept.
    /// `otherSessions` are the open sessions without a subscription to the topic in question.
    public static func text(
        node: [UInt8], shard: Int, sinceMs: Int?, otherSessions: Int, gone: [WhyFacts.GoneNode]
    ) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "kind", string: kind)
        text.append(member: "node", string: node)
        text.append(member: "shard", number: shard)
        text.append(member: "since", stringOrNull: sinceMs.map { Timestamp.text(wallMs: $0).utf8 })
        text.append(member: "otherSessions", number: otherSessions)
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
