public import Connections
internal import Core
public import Reactors

/// The servers of a thread that finds them itself: a directory and, when the target has Sentinels, a watch behind it.
///
/// Thread: that of its links.
public final class LocalServers {
    /// The directory for the thread's links.
    public let directory: PrimaryDirectory
    /// The watch of the Sentinels; `nil` for a single server.
    public private(set) var watch: SentinelWatch?
    /// Figures of the watch; zeroes for a single server.
    public let statistics = SentinelStatistics()

    /// Makes the directory, and begins to ask Sentinels when there are any.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String,
        onEvent: @escaping (SentinelWatch.Event) -> Void = { _ in }
    ) throws(Errno) {
        let holder = Holder()
        directory =
            target.topology.directory(target) { holder.watch?.hint($0) } ?? PrimaryDirectory(fixed: target.url)
        watch = try SentinelWatch(context, target, name: name, statistics: statistics, onEvent: onEvent) {
            [directory] in directory.take($0)
        }
        holder.watch = watch
    }

    /// Ends the watch.
    public func stop() {
        watch?.stop()
    }

    private final class Holder {
        weak var watch: SentinelWatch?
    }
}

@available(*, unavailable)
extension LocalServers: Sendable {}
