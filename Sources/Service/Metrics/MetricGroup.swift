/// Families of metrics that belong together: a chapter of the reference page.
///
/// A family that no group has cannot be written.
public struct MetricGroup: Sendable {
    /// A kind of process; the raw value is the label `role` of `switchboard_build_info`.
    public enum Process: String, Sendable {
        /// `switchboard gateway`, and `switchboard dev`.
        case gateway
        /// `switchboard worker`.
        case worker
        /// `switchboard-courier`.
        case courier
    }

    /// The heading of the chapter.
    public let title: String
    /// The processes that have these families.
    public let processes: [Process]
    /// The families, in the order of the page.
    public let families: [MetricFamily]

    init(_ title: String, of processes: [Process], _ families: [MetricFamily]) {
        (self.title, self.processes, self.families) = (title, processes, families)
    }

    /// Every group, in the order of the page.
    public static let all = [
        connections, delivery, requests, neighbours, bridge, redis, readiness, shared, worker, courier, everyProcess,
    ]
}
