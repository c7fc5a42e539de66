/// Figures of clients that reconnected after a cut (`herd`) or did not read (`slow`), and the effect on the others.
struct ReturnedFigures: Codable {
    /// Number of live connections that were lost, and of those whose client was live again.
    var lost: Int
    var back: Int
    /// From the first loss until 50 or 90 of 100 clients were live again, microseconds; absent when fewer were.
    var back50Us: Int?
    var back90Us: Int?
    var back99Us: Int?
    var back100Us: Int?
    /// Of the TLS handshakes of reconnecting clients, the share that was abbreviated, 0 to 1.
    var resumedShare: Double?
    var failedAttempts: Int
    /// Subscriptions from a position that received every event since, and those that did not and were notified.
    var recovered: Int
    var notRecovered: Int
    /// Events that were sent again for these, and events reported to clients as missed.
    var recoveredEvents: Int
    var toldMissed: Int
    /// Connections that the server closed because their client read too slowly (4410).
    var closedSlow: Int?
    /// p99 of the deliveries to clients that were live, without the recovered ones, microseconds.
    var p99BeforeUs: Int?
    var p99DuringUs: Int?
    var p99AfterUs: Int?
    /// The server's resident memory less its shared memory (statm, proc(5)): before, and the maximum.
    var memoryBeforeBytes: Int?
    var memoryPeakBytes: Int?
}
