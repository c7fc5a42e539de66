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
        append(metrics.traffic, to: &text)
        append(figures.calls.withLock { $0 }, to: &text)
        return FleetRow(key: nodeName, content: text + [UInt8(ascii: "}")])
    }

    /// Appends the counts since the start as the member `traffic`.
    private static func append(_ traffic: NodeTraffic, to text: inout [UInt8]) {
        text.append(member: "traffic", json: "{".utf8)
        text.append(member: "uptimeMs", number: traffic.uptimeMs)
        text.append(member: "messagesIn", number: traffic.messagesIn)
        text.append(member: "messagesOut", number: traffic.messagesOut)
        text.append(member: "bytesIn", number: traffic.bytesIn)
        text.append(member: "bytesOut", number: traffic.bytesOut)
        text.append(member: "publishes", number: traffic.publishes)
        text.append(member: "refusals", number: traffic.refusals)
        text.append(member: "slowCloses", number: traffic.slowCloses)
        text.append(member: "cpuMs", number: traffic.cpuMs)
        text.append(member: "loopBoundsUs")
        text.append(arrayOf: traffic.loopBoundsUs) { $0.append(decimal: $1) }
        text.append(member: "loopTicks")
        text.append(arrayOf: traffic.loopTicks) { $0.append(decimal: $1) }
        text.append(UInt8(ascii: "}"))
    }

    /// Appends the waiting calls of outside services, as this node reads them, as the member `services`.
    private static func append(_ services: [String: CallsFigures], to text: inout [UInt8]) {
        text.append(member: "services")
        text.append(arrayOf: services.sorted { $0.key < $1.key }) { text, service in
            text.append(UInt8(ascii: "{"))
            text.append(member: "service", string: service.key)
            text.append(member: "waiting", number: service.value.waiting)
            text.append(member: "oldestSeconds", number: service.value.oldestMs / 1_000)
            text.append(member: "dead", number: service.value.dead)
            text.append(UInt8(ascii: "}"))
        }
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
