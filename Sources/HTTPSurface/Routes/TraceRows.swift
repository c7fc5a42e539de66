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
    /// The numbers of subscriptions by the fate of the event, on all shards.
    private(set) var fates: [EventFate.Word: Int] = [:]
    /// Gateways that are gone, as the others have noticed.
    private(set) var gone: [WhyFacts.GoneNode] = []

    private var hasRecord = false

    private static let jsonLimits = JSON.Limits(depthMax: 8, elementsMax: 10_000)
    private static let goneMax = 8

    /// Reads the rows, and leaves out what a caller of that scope may not see.
    init(_ result: FleetResult, _ scope: WhyFacts.Scope) {
        for row in result.answer.rows {
            guard let json = try? JSON(parsing: row.content, limits: TraceRows.jsonLimits) else { continue }
            if json.root["kind"]?.string == RecordRow.kind {
                take(json.root)
                if scope != .topic { records.append(row.content) }
            } else if let fact = SessionFact(json.root) {
                guard scope == .topic else {
                    sessions.append(row.content)
                    facts.append(fact)
                    continue
                }
                guard let part = fact.ofTopic else { continue }
                sessions.append(SessionRow.text(ofTopic: part))
                facts.append(part)
            }
        }
        if !hasRecord { recordedSinceMs = nil }
        facts.sort { ($0.openedMs ?? 0, $0.id) < ($1.openedMs ?? 0, $1.id) }
    }

    private mutating func take(_ record: JSON.Value) {
        hasRecord = true
        if let counts = record["fates"] { FateCounts.add(counts, to: &fates) }
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
}
