import Reactors

/// The room that the limit of file descriptors (RLIMIT_NOFILE) leaves for clients.
///
/// Pure.
public struct DescriptorRoom: Equatable, Sendable {
    /// Descriptors that the process has open.
    public let open: Int
    /// The soft limit.
    public let limit: Int

    /// The room in a process that has `open` descriptors and may have `limit`.
    public init(open: Int, limit: Int) {
        self.open = open
        self.limit = limit
    }

    /// Descriptors that a gateway opens beside its clients' connections: links, listeners, timers, files.
    private static let own = 64

    /// Number of open descriptors from which on clients are refused.
    private var ceiling: Int { DescriptorReserve.ceiling(of: limit, reserve: DescriptorReserve.clients) }

    /// Whether new clients are about to be refused: 5 % of the limit are left for them, or eight descriptors.
    var isShort: Bool { open >= ceiling - max(8, limit / 20) }

    /// Whether `connectionsMax` clients can never be served.
    public func isTooSmall(for connectionsMax: Int) -> Bool { ceiling - DescriptorRoom.own < connectionsMax }

    /// The state of the row `descriptors`.
    func state(connectionsMax: Int) -> RowState {
        let figures = [("open", "\(open)"), ("limit", "\(limit)"), ("connectionsMax", "\(connectionsMax)")]
        if isShort { return .red(figures: figures) }
        guard isTooSmall(for: connectionsMax) else { return .fine(figures: figures) }
        return .warned(
            mend: DescriptorRoom.mend(connectionsMax), line: "fewer file descriptors than clients are allowed",
            figures: figures)
    }

    /// Mend for the operator whose limit is too small.
    public static func mend(_ connectionsMax: Int) -> String {
        let wanted = connectionsMax + own + DescriptorReserve.clients
        return "allow \(wanted) open files (ulimit -n, LimitNOFILE=), or lower --limit connectionsMax"
    }
}
