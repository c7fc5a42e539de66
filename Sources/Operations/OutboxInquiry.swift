public import Core
public import Reactors
public import RedisLink

/// Reads the number of outbox entries, every two seconds.
///
/// With plain key names it reads the streams themselves, so a node knows it without any worker. With tagged names there
/// are too many streams, and it reads the figures that the worker stores in Redis. Thread: that of the first shard.
public final class OutboxInquiry {
    private let book: Guarded<OutboxBook>
    private let health: Health
    private let link: any RedisCalls
    private let keys: Keys
    private let script: ScriptID
    private var nextMs = Int.min

    private static let everyMs = 2_000

    /// `script` is `outbox_figures.lua`.
    public init(
        _ book: Guarded<OutboxBook>, health: Health, link: any RedisCalls, keys: Keys, script: ScriptID
    ) {
        self.book = book
        self.health = health
        self.link = link
        self.keys = keys
        self.script = script
    }

    /// Reads when it is time; called four times a second.
    public func sweep(nowMs: Int) {
        guard link.isReady, nextMs <= nowMs else { return }
        nextMs = nowMs + OutboxInquiry.everyMs
        if keys.layout == .tagged {
            link.call(RedisCall("GET", keys.outboxFigures)) { [weak self] in
                guard case .success(let value) = $0 else { return }
                self?.learned(value.bytes.flatMap { OutboxFigures($0) })
            }
        } else {
            link.run(OutboxFigures.call(script, keys, slot: 0), lane: nil) { [weak self] in
                guard case .success(let value) = $0 else { return }
                self?.learned(OutboxFigures(value))
            }
        }
    }

    private func learned(_ figures: OutboxFigures?) {
        let state = book.withLock { book in
            book.learned(figures)
            return book.state
        }
        health.set(.outbox, state)
    }
}
