import Configuration
public import RedisLink

/// Writes into the log what a master of a cluster has become for one link to it.
public enum FailoverLog {
    /// One line for each change; `part` is whose link it is, and `before` where the master was that this one follows.
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
