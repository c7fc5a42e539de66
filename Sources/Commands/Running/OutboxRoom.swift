public import Core

/// How much may wait in the outbox, and in which of its streams a caller's entries wait.
public struct OutboxRoom: Equatable, Sendable {
    /// Entries that one stream may hold.
    public let laneMax: Int
    /// Entries of one user, or of all anonymous callers together, that may wait in a stream; 0: nobody counts them.
    public let payerMax: Int
    /// Whether the entries are follow-ups: a worker's calls cause them.
    public let isFollowUp: Bool

    /// The room of commands at a gateway.
    public init(laneMax: Int, payerMax: Int) {
        (self.laneMax, self.payerMax, isFollowUp) = (laneMax, payerMax, false)
    }

    /// The room of what a worker's calls cause.
    public init(followUpsMax: Int) {
        (laneMax, payerMax, isFollowUp) = (followUpsMax, 0, true)
    }

    /// The stream for what a caller leaves to the worker, for a home or for none.
    public func stream(_ keys: Keys, home: Topic?, payer: [UInt8]) -> OutboxStream {
        keys.outbox(of: home, payer: payer, isFollowUp: isFollowUp)
    }

    /// The words for scripts, three of them: the room of the stream, the payer's part of it or 0, and the payer.
    ///
    /// A service may fill its lane: it has no bound of its own beneath.
    public func terms(_ payer: [UInt8], _ role: CommandRole) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: laneMax)
        text.append(UInt8(ascii: " "))
        text.append(decimal: role == .service ? 0 : payerMax)
        text.append(UInt8(ascii: " "))
        return text + payer
    }
}
