import Reactors

/// Figures of the masters of a cluster.
///
/// Thread: any.
final class MasterFigures: Sendable {
    /// How often a shard's link found that a master writes another history than the one before it, by what became of
    /// epochs.
    struct Changes: Equatable {
        /// It was proven to have the whole of the one before.
        var kept = 0
        /// It was not.
        var reset = 0
    }

    private let counted = Guarded(Changes())

    /// A shard's link found another history.
    func historyChanged(keepsEpochs: Bool) {
        counted.withLock { changes in
            if keepsEpochs { changes.kept += 1 } else { changes.reset += 1 }
        }
    }

    /// All of them so far.
    var changes: Changes { counted.withLock { $0 } }
}
