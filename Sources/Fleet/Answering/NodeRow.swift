import Core
import Operations
import Reactors
public import RedisLink
import Service

/// The row of a process in the answer about nodes.
///
/// A gateway writes its own. Workers and couriers cannot be asked: their rows have the part that they announce in
/// Redis.
public enum NodeRow {
    /// The name of this machine; empty where it is not known.
    static let machine: String = {
        let text = (try? Files.read("/proc/sys/kernel/hostname", bytesMax: 256)) ?? []
        return String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)
    }()

    /// The row of this gateway.
    static func own(_ metrics: Metrics, _ nodeName: [UInt8]) -> FleetRow {
        let (figures, health) = (metrics.figures, metrics.health)
        let book = figures.nodes.withLock { $0 }
        health.checkLoops(figures.shards.all)
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "name", string: machine)
        append(book.own, to: &text)
        text.append(member: "uptimeSeconds", number: (Clock.monotonicMs() - figures.startedMs) / 1_000)
        text.append(member: "configHash", string: figures.configHash)
        text.append(member: "ready", json: (health.isReady ? "true" : "false").utf8)
        text.append(member: "reasons")
        text.append(arrayOf: health.reasons) { $0.append(jsonString: $1.rawValue) }
        text.append(member: "warnings")
        text.append(arrayOf: health.warnings) { $0.append(jsonString: $1.row.rawValue) }
        text.append(member: "draining", json: (health.isDraining ? "true" : "false").utf8)
        let shards = figures.shards.all
        text.append(member: "connections", number: metrics.admission.figures.open)
        text.append(member: "sessions", number: shards.reduce(0) { $0 + $1.sessions.value })
        text.append(member: "topics", number: shards.reduce(0) { $0 + $1.topics.value })
        text.append(member: "memoryBytes", number: metrics.memory.residentBytes)
        text.append(member: "descriptors", number: health.descriptorsOpen.value)
        text.append(member: "clockOffsetMs", numberOrNull: book.offsetMs)
        return FleetRow(key: nodeName, content: text + [UInt8(ascii: "}")])
    }

    /// The row of a process that is known by its entry alone.
    public static func announced(_ entry: NodeEntry) -> FleetRow {
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "name", string: String(decoding: entry.name, as: UTF8.self))
        append(entry, to: &text)
        text.append(member: "clockOffsetMs", numberOrNull: entry.offsetMs)
        return FleetRow(key: entry.name, content: text + [UInt8(ascii: "}")])
    }

    private static func append(_ entry: NodeEntry, to text: inout [UInt8]) {
        text.append(member: "id", string: String(decoding: entry.name, as: UTF8.self))
        text.append(member: "role", string: entry.kind.rawValue)
        text.append(member: "version", string: entry.version)
        text.append(member: "format", number: entry.format)
    }
}
