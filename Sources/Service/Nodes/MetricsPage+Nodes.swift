import Core
import RedisLink

extension MetricsPage {
    /// Writes this process's version, its clock's offset from Redis's, and the live processes by kind and version.
    public mutating func tell(_ nodes: NodeBook) {
        let own = nodes.own
        gauge(
            "switchboard_build_info", "1; the labels tell the version of this process, and the format of its data.",
            [("version", "\(own.version)\",format=\"\(own.format)", 1)])
        guard let offsetMs = nodes.offsetMs else { return }
        gauge(
            "switchboard_clock_offset_seconds", "How far this machine's clock is ahead of Redis's.",
            milliseconds: offsetMs)
        gauge(
            "switchboard_nodes", "Processes that share this Redis, this one included.",
            nodes.groups.map { group, count in
                ("kind", "\(group.kind.rawValue)\",version=\"\(group.version)\",format=\"\(group.format)", count)
            })
    }
}
