/// How clients came back that were cut (`herd`) or did not read (`slow`), and what it did to the others.
struct ReturnedFigures: Codable {
    /// Live connections that were lost, and those whose client was live again.
    var lost: Int
    var back: Int
    /// From the first loss until so many of 100 of all clients were live again, microseconds; absent when fewer were.
    var back50Us: Int?
    var back90Us: Int?
    var back99Us: Int?
    var back100Us: Int?
    /// Of the TLS handshakes of those who came back, the share that was abbreviated, 0 to 1.
    var resumedShare: Double?
    var failedAttempts: Int
    /// Subscriptions from a position that got every event since; that did not and were told so.
    var recovered: Int
    var notRecovered: Int
    /// Events that were sent again for these; events that clients were told they missed.
    var recoveredEvents: Int
    var toldMissed: Int
    /// Connections that the server closed because their client read too slowly (4410).
    var closedSlow: Int?
    /// p99 of the deliveries to clients that were live, without those that made up for an absence, microseconds.
    var p99BeforeUs: Int?
    var p99DuringUs: Int?
    var p99AfterUs: Int?
    /// The server's resident memory less what it shares (statm, proc(5)): before, and the most that was seen.
    var memoryBeforeBytes: Int?
    var memoryPeakBytes: Int?
}
