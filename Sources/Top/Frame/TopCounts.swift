import Core

/// The counts of a node since its start, as its row has them (the member `traffic`).
struct TopCounts: Equatable {
    /// Milliseconds since the start.
    let uptimeMs: Int
    let messagesIn: Int
    let messagesOut: Int
    let bytesIn: Int
    let bytesOut: Int
    let publishes: Int
    let refusals: Int
    let slowCloses: Int
    let cpuMs: Int
    let loopBoundsUs: [Int]
    let loopTicks: [Int]

    /// The most buckets that are read.
    private static let bucketsMax = 64

    /// Reads the member; `nil` when it is none, as that of an older version.
    init?(_ value: JSON.Value?) {
        guard let value, value.kind == .object, let uptimeMs = value["uptimeMs"]?.int else { return nil }
        func number(_ name: String) -> Int { value[name]?.int ?? 0 }
        func numbers(_ name: String) -> [Int] {
            guard let list = value[name], list.kind == .array else { return [] }
            return list.members.prefix(TopCounts.bucketsMax).map { $0.int ?? 0 }
        }
        self.uptimeMs = uptimeMs
        messagesIn = number("messagesIn")
        messagesOut = number("messagesOut")
        bytesIn = number("bytesIn")
        bytesOut = number("bytesOut")
        publishes = number("publishes")
        refusals = number("refusals")
        slowCloses = number("slowCloses")
        cpuMs = number("cpuMs")
        loopBoundsUs = numbers("loopBoundsUs")
        loopTicks = numbers("loopTicks")
    }
}
