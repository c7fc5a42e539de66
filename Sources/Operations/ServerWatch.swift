public import Reactors
import RedisLink

/// Reads memory, evictions and persistence of every master, every `redisLookMs`.
///
/// Thread: that of the first shard.
public final class ServerWatch {
    private let book: Guarded<ServerBook>
    private let health: Health
    private let intervalMs: Int
    private var nextMs = Int.min

    /// `intervalMs` is the time between two reads.
    public init(_ book: Guarded<ServerBook>, health: Health, intervalMs: Int) {
        self.book = book
        self.health = health
        self.intervalMs = intervalMs
    }

    /// Reads from the masters when it is time; called four times a second with all current masters.
    public func sweep(_ masters: @autoclosure () -> [LoadWatch.Master], nowMs: Int) {
        guard nextMs <= nowMs else { return }
        let masters = masters()
        // While no master is known, the last answers remain valid.
        guard !masters.isEmpty else { return }
        nextMs = nowMs + intervalMs
        let names = Set(masters.map(\.name))
        book.withLock { $0.keep(only: names) }
        for master in masters {
            master.link.call(ServerFigures.question) { [weak self, weak link = master.link] result in
                guard case .success(let answer) = result, let load = ServerFigures(answer) else { return }
                self?.learned(load, of: master.name, isWeak: link?.hasLostItsSeal ?? false)
            }
        }
    }

    private func learned(_ load: ServerFigures, of server: String, isWeak: Bool) {
        let wallMs = Clock.wallMs()
        let (eviction, memory, persistence) = book.withLock { book in
            book.learned(load, of: server, isWeak: isWeak, wallMs: wallMs)
            return (book.eviction(wallMs: wallMs), book.memory, book.persistence)
        }
        health.set(.redisEviction, eviction)
        health.set(.redisMemory, memory)
        health.set(.redisPersistence, persistence)
    }
}
