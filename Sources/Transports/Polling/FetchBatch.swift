/// The fetches that are answered together, once all events of a tick have been handed out.
///
/// Thread: the shard's.
final class FetchBatch {
    /// `nil` outside a batch.
    private var waiting: [ObjectIdentifier: PollingTransport]?

    /// Holds answers back from now on.
    func begin() { waiting = waiting ?? [:] }

    /// Answers the fetches that were held back.
    func end() {
        guard let transports = waiting?.values else { return }
        waiting = nil
        for transport in transports { transport.flush() }
    }

    /// Whether the transport has to wait for the end of the batch.
    func postpones(_ transport: PollingTransport) -> Bool {
        guard waiting != nil else { return false }
        waiting?[ObjectIdentifier(transport)] = transport
        return true
    }
}
