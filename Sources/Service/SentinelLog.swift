import Configuration
public import RedisLink

/// Logs the reports of a watch of Sentinels.
public enum SentinelLog {
    /// Writes one line for each report.
    public static func tell(_ news: SentinelWatch.Event, _ log: Log) {
        switch news {
        case .found(let master):
            log.write(.info, "redis master found", [("master", master)])
        case .switched(let from, let to, let keepsEpochs):
            log.write(
                .warn, "redis has another master",
                [("from", from), ("master", to), ("epochs", keepsEpochs ? "kept" : "reset")])
        case .historyChanged(let master):
            log.write(.warn, "redis master has another history", [("master", master), ("epochs", "reset")])
        case .trouble(let failure):
            log.write(.warn, "no redis master", [("reason", failure.metricLabel), ("detail", failure.detail)])
        case .moreSentinels(let known, let configured):
            log.write(
                .warn, "there are more sentinels than configured; name all of them",
                [("known", "\(known)"), ("configured", "\(configured)")])
        }
    }
}
