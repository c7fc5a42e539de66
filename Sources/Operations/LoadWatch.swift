import Configuration
public import Reactors
public import RedisLink
public import Service

/// Asks every master whether it could load its own append-only file.
///
/// It asks at each new server process, and every `redisLoadCheckMs`. Thread: that of the first shard.
public final class LoadWatch {
    /// A master and the link to it.
    public struct Master {
        /// `host:port`, or the path of a socket.
        public let name: String
        /// The first shard's link to the master.
        public let link: CallLink

        /// A master by the name under which answers are kept.
        public init(name: String, link: CallLink) {
            self.name = name
            self.link = link
        }
    }

    /// When a master was asked last, and the process that answered.
    private struct Asked {
        var runID: [UInt8]
        var atMs: Int
        var isWaiting: Bool
    }

    private let book: Guarded<LoadBook>
    private let health: Health
    private let log: Log
    private let prefix: [UInt8]
    private let intervalMs: Int
    private let wallMs: () -> Int
    private var asked: [String: Asked] = [:]

    /// `prefix` is that of all keys; `intervalMs` is the time between two questions.
    public init(
        _ book: Guarded<LoadBook>, health: Health, log: Log, prefix: [UInt8], intervalMs: Int,
        wallMs: @escaping () -> Int = { Clock.wallMs() }
    ) {
        self.book = book
        self.health = health
        self.log = log
        self.prefix = prefix
        self.intervalMs = intervalMs
        self.wallMs = wallMs
    }

    /// Asks the masters whose question is due; called four times a second with all current masters.
    public func sweep(_ masters: [Master], nowMs: Int) {
        let names = Set(masters.map(\.name))
        asked = asked.filter { names.contains($0.key) }
        // While no master is known, the last answers remain valid.
        if !names.isEmpty {
            let state = book.withLock { book in
                book.keep(only: names)
                return book.state
            }
            health.set(.redisDefaultUser, state)
        }
        for master in masters {
            guard let runID = master.link.facts?.runID else { continue }
            if let last = asked[master.name], last.runID == runID, last.isWaiting || nowMs - last.atMs < intervalMs {
                continue
            }
            asked[master.name] = Asked(runID: runID, atMs: nowMs, isWaiting: true)
            master.link.ask(LoadInquiry(prefix: prefix)) { [weak self] in self?.learned($0, of: master.name, runID) }
        }
    }

    private func learned(_ rights: LoadRights, of server: String, _ runID: [UInt8]) {
        guard asked[server]?.runID == runID else { return }
        asked[server]?.isWaiting = false
        if case .unknown(let failure) = rights, failure.isOfTheMoment {
            // The next connection, or the next sweep, asks again.
            asked[server]?.runID = []
            return
        }
        let wallMs = wallMs()
        let (line, state) = book.withLock { ($0.learned(rights, of: server, wallMs: wallMs), $0.state) }
        health.set(.redisDefaultUser, state)
        if let line { log.write(line) }
    }
}

extension RedisFailure {
    /// Whether the server might answer differently a moment later.
    fileprivate var isOfTheMoment: Bool {
        switch kind {
        case .timedOut, .disconnected, .inFlightFull, .busy, .loading: true
        default: false
        }
    }
}
