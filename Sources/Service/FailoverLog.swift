import Configuration
public import RedisLink

/// Logs changes of a cluster's master that a link reports.
public enum FailoverLog {
    /// Writes one line for each change; `part` names the owner of the link, and `before` is the address of the
    /// preceding master.
    public static func tell(
        _ master: ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool, part: String, _ log: Log
    ) {
        let epochs = keepsEpochs ? "kept" : "reset"
        guard let before, before != master else {
            return log.write(
                .warn, "redis master has another history",
                [("master", master.description), ("epochs", epochs), ("part", part)])
        }
        log.write(
            .warn, "redis has another master",
            [("from", before.description), ("master", master.description), ("epochs", epochs), ("part", part)])
    }
}
