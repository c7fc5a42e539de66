import Core
import RedisLink

extension MetricsPage {
    /// Writes this process's version, its clock's offset from Redis's, and the live processes by kind and version.
    public mutating func tell(_ nodes: NodeBook) {
        let own = nodes.own
        gauge(
            "switchboard_build_info",
            [("version", "\(own.version)\",format=\"\(own.format)\",role=\"\(own.kind.rawValue)", 1)])
        guard let offsetMs = nodes.offsetMs else { return }
        gauge("switchboard_clock_offset_seconds", milliseconds: offsetMs)
        gauge(
            "switchboard_nodes",
            nodes.groups.map { group, count in
                ("kind", "\(group.kind.rawValue)\",version=\"\(group.version)\",format=\"\(group.format)", count)
            })
    }
}
