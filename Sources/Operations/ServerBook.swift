import RedisLink

/// Memory, evictions and persistence of every master, and the states of the three rows that follow from them.
///
/// Pure.
public struct ServerBook: Sendable {
    /// One master.
    private struct Entry {
        var load: ServerFigures
        /// When evictions were last seen to grow, milliseconds since 1970.
        var evictedMs: Int?
        /// Keys evicted since this node's first look.
        var evictions = 0
        /// Whether the append-only file was seen on in this run of the server.
        var hadAppendOnlyFile = false
        /// Whether the run has lost the proof that it syncs every write; this never changes back.
        var isWeak = false
        var isNearBound = false
    }

    private var entries: [String: Entry] = [:]
    /// Keys that masters have evicted under this node's watch, those of earlier runs and masters included.
    private(set) var evictions = 0
    private let evictionWarnMs: Int
    private let percentMax: Int
    /// Points below the bound at which the warning ends.
    private static let percentRest = 5

    /// Evictions cause a warning for `evictionWarnMs`, memory from `percentMax` on.
    init(evictionWarnMs: Int, percentMax: Int) {
        self.evictionWarnMs = evictionWarnMs
        self.percentMax = percentMax
    }

    /// Takes the figures of a master at `wallMs`, milliseconds since 1970.
    ///
    /// `isWeak`: Redis stores a note that this run has lost the proof of syncing every write.
    mutating func learned(_ load: ServerFigures, of server: String, isWeak: Bool, wallMs: Int) {
        var entry = entries[server] ?? Entry(load: load)
        if entry.load.runID != load.runID { entry = Entry(load: load, evictedMs: entry.evictedMs) }
        let grown = load.evictedKeys - entry.load.evictedKeys
        if grown > 0 {
            entry.evictedMs = wallMs
            entry.evictions += grown
            evictions += grown
        }
        entry.load = load
        entry.hadAppendOnlyFile = entry.hadAppendOnlyFile || load.hasAppendOnlyFile
        entry.isWeak = isWeak
        let end = max(percentMax - (entry.isNearBound ? ServerBook.percentRest : 0), 0)
        entry.isNearBound = load.boundBytes > 0 && load.percentUsed >= end
        entries[server] = entry
    }

    /// Forgets servers that are no longer masters.
    mutating func keep(only servers: Set<String>) {
        for server in entries.keys where !servers.contains(server) { entries[server] = nil }
    }

    private func first(_ isWrong: (Entry) -> Bool) -> (server: String, entry: Entry)? {
        entries.filter { isWrong($0.value) }.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The state of the row `redis_eviction` at `wallMs`.
    func eviction(wallMs: Int) -> RowState {
        func isLate(_ entry: Entry) -> Bool { entry.evictedMs.map { abs(wallMs - $0) < evictionWarnMs } ?? false }
        if let (server, entry) = first(isLate) {
            return .warned(
                "evicted", line: "redis has evicted keys: revocations or entries of the outbox may be lost",
                figures: [
                    ("server", server), ("policy", entry.load.evictionPolicy),
                    ("evictedKeys", "\(entry.load.evictedKeys)"),
                ])
        }
        guard let (server, entry) = first({ $0.load.mayEvict }) else { return .fine() }
        return .warned("policy", figures: [("server", server), ("policy", entry.load.evictionPolicy)])
    }

    /// The state of the row `redis_memory`.
    var memory: RowState {
        guard let (server, entry) = first(\.isNearBound) else { return .fine() }
        return .warned(figures: [
            ("server", server), ("usedBytes", "\(entry.load.usedBytes)"), ("maxmemory", "\(entry.load.boundBytes)"),
        ])
    }

    /// The state of the row `redis_persistence`.
    var persistence: RowState {
        if let (server, _) = first({ ($0.hadAppendOnlyFile || $0.isWeak) && !$0.load.hasAppendOnlyFile }) {
            return .warned(
                "appendonly",
                mend: "CONFIG SET appendonly yes, then CONFIG REWRITE; positions count again after a restart of Redis",
                line: "redis no longer writes its append-only file: a restart loses what came since",
                figures: [("server", server)])
        }
        guard let (server, _) = first(\.isWeak) else { return .fine(figures: [("appendonly", appendOnly)]) }
        return .warned("sync", figures: [("server", server)])
    }

    /// Whether the masters write append-only files: `yes`, `no`, `part`, or `unknown` before the first look.
    private var appendOnly: String {
        let count = entries.values.count(where: \.load.hasAppendOnlyFile)
        if entries.isEmpty { return "unknown" }
        return count == 0 ? "no" : count == entries.count ? "yes" : "part"
    }

    /// The figures of every master, by address in order.
    var figures: [(server: String, load: ServerFigures)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value.load) }
    }
}
