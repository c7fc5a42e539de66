import Core
import Fleet
import Traces

/// The rows of the shards: sessions, and one row of each shard about its record.
struct TraceRows {
    /// JSON objects of sessions.
    private(set) var sessions: [[UInt8]] = []
    private(set) var facts: [SessionFact] = []
    /// JSON objects about the records.
    private(set) var records: [[UInt8]] = []
    /// Open sessions that have no subscription to the topic.
    private(set) var withoutSubscription = 0
    /// The time from which on all records are whole, milliseconds since 1970; `nil` when a shard keeps none.
    private(set) var recordedSinceMs: Int? = 0
    /// Gateways that are gone, as the others have noticed.
    private(set) var gone: [WhyFacts.GoneNode] = []

    private static let jsonLimits = JSON.Limits(depthMax: 8, elementsMax: 10_000)
    private static let goneMax = 8

    init(_ result: FleetResult) {
        for row in result.answer.rows {
            guard let json = try? JSON(parsing: row.content, limits: TraceRows.jsonLimits) else { continue }
            if json.root["kind"]?.string == RecordRow.kind {
                take(json.root)
                records.append(row.content)
            } else if let fact = SessionFact(json.root) {
                sessions.append(row.content)
                facts.append(fact)
            }
        }
        if records.isEmpty { recordedSinceMs = nil }
        facts.sort { ($0.openedMs ?? 0, $0.id) < ($1.openedMs ?? 0, $1.id) }
    }

    private mutating func take(_ record: JSON.Value) {
        // Another node's numbers may be any.
        let sum = withoutSubscription.addingReportingOverflow(max(0, record["otherSessions"]?.int ?? 0))
        withoutSubscription = sum.overflow ? Int.max : sum.partialValue
        let since = record["since"]?.stringBytes.flatMap { Timestamp.milliseconds($0) }
        recordedSinceMs = recordedSinceMs.flatMap { known in since.map { max(known, $0) } }
        for one in record["gone"].map({ Array($0.members) }) ?? [] {
            guard let name = one["node"]?.string, let seen = one["seen"]?.stringBytes,
                let seenMs = Timestamp.milliseconds(seen), gone.count < TraceRows.goneMax
            else { continue }
            if let index = gone.firstIndex(where: { $0.name == name }) {
                gone[index].seenMs = max(gone[index].seenMs, seenMs)
            } else {
                gone.append(WhyFacts.GoneNode(name: name, seenMs: seenMs))
            }
        }
    }

    /// A JSON object with the number of subscriptions of each fate.
    var fates: [UInt8] {
        let words = facts.flatMap(\.stays).map(\.fate)
        var text = Array("{".utf8)
        for word in EventFate.Word.allCases {
            let count = words.count { $0 == word }
            guard count > 0 else { continue }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(jsonString: word.rawValue)
            text.append(UInt8(ascii: ":"))
            text.append(decimal: count)
        }
        return text + [UInt8(ascii: "}")]
    }
}
