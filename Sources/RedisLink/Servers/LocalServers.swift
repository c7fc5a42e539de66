internal import Core
public import Reactors
public import Transport

/// The servers of a thread that finds them out by itself: a board, and behind it a watch where the target has Sentinels.
///
/// Thread: that of its links.
public final class LocalServers {
    /// What the thread's links are made with.
    public let board: ServerBoard
    /// `nil` for one server.
    public private(set) var watch: SentinelWatch?
    /// Figures of the watch; zeroes for one server.
    public let statistics = SentinelStatistics()

    /// Makes the board, and begins to ask where that is needed.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String,
        onNews: @escaping (SentinelWatch.News) -> Void = { _ in }
    ) throws(Errno) {
        guard target.hasSentinels else {
            board = ServerBoard(fixed: target.url)
            return
        }
        let holder = Holder()
        board = ServerBoard { holder.watch?.ask($0) }
        watch = try SentinelWatch(context, target, name: name, statistics: statistics, onNews: onNews) {
            [board] in board.take($0)
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
