/// Figures of the reconnections of a process's clients; additive.
struct ReturnFigures: Codable {
    /// One client's loss and return, microseconds of CLOCK_MONOTONIC.
    struct Return: Codable, Equatable {
        var client: Int
        var lostUs: Int
        var liveUs: Int
    }

    /// Live connections that ended.
    var lost = 0
    var returns: [Return] = []
    /// Connections whose WebSocket was opened, and those of them with a resumed TLS session.
    var handshakes = 0
    var resumed = 0
    var failedAttempts = 0
    /// Live connections that the server closed because their client read too slowly (4410).
    var closedSlow = 0
    /// Connections that ended of clients that always read (`slow`).
    var readersLost = 0
    /// Answers to a position: with all events since, or without.
    var recovered = 0
    var notRecovered = 0
    /// Events that were sent again with the answer.
    var recoveredEvents = 0
    /// Events that the server reported as missed: by `recovered: false` or a `gap`.
    var toldMissed = 0
    var gaps = 0
    /// Answers and gaps of another epoch: the number of missed events is unknown.
    var newEpochs = 0
    var unreadable = 0
    /// From connect to live, of reconnecting clients.
    var connect = LatencyHistogram()

    private static var sums: [WritableKeyPath<ReturnFigures, Int>] {
        [
            \.lost, \.handshakes, \.resumed, \.failedAttempts, \.closedSlow, \.readersLost, \.recovered, \.notRecovered,
            \.recoveredEvents, \.toldMissed, \.gaps, \.newEpochs, \.unreadable,
        ]
    }

    /// Adds all figures of another one.
    mutating func merge(_ other: ReturnFigures) {
        for sum in ReturnFigures.sums { self[keyPath: sum] += other[keyPath: sum] }
        returns += other.returns
        connect.merge(other.connect)
    }
}

/// The return of a herd: when each of its clients was live again.
struct HerdReturn {
    /// When the first client was lost, microseconds of CLOCK_MONOTONIC.
    let lossUs: Int
    private let clients: Int
    /// From the loss until each was live for the last time, ascending.
    private let afterUs: [Int]

    /// Takes the returns; of a client that was lost again, its last return counts.
    init(clients: Int, returns: [ReturnFigures.Return]) {
        self.clients = clients
        let lossUs = returns.map(\.lostUs).min() ?? 0
        self.lossUs = lossUs
        var last: [Int: Int] = [:]
        for one in returns { last[one.client] = max(one.liveUs - lossUs, last[one.client] ?? 0) }
        afterUs = last.values.sorted()
    }

    /// When so many of 100 clients were live again, microseconds after the loss; `nil` when fewer returned.
    func backUs(percent: Int) -> Int? {
        let wanted = max((clients * percent + 99) / 100, 1)
        return wanted <= afterUs.count ? afterUs[wanted - 1] : nil
    }

    /// Number of clients that have returned.
    var count: Int { afterUs.count }

    /// Clients that returned each second, from the first to the last; `nil` for fewer than two.
    var perSecond: Double? {
        guard let first = afterUs.first, let last = afterUs.last, last > first else { return nil }
        return Double(afterUs.count) * 1_000_000 / Double(last - first)
    }
}
