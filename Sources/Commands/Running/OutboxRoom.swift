public import Core

/// The limits of the outbox, and the choice of its stream for a caller's entries.
public struct OutboxRoom: Equatable, Sendable {
    /// The most entries of one stream.
    public let laneMax: Int
    /// The most entries of one user, or of all anonymous callers together, that may wait in a stream; 0: no limit.
    public let payerMax: Int
    /// Whether the entries are follow-ups, which a worker's calls cause.
    public let isFollowUp: Bool

    /// The limits for commands at a gateway.
    public init(laneMax: Int, payerMax: Int) {
        (self.laneMax, self.payerMax, isFollowUp) = (laneMax, payerMax, false)
    }

    /// The limits for entries that a worker's calls cause.
    public init(followUpsMax: Int) {
        (laneMax, payerMax, isFollowUp) = (followUpsMax, 0, true)
    }

    /// The stream for a caller's entries, for a home or for none.
    public func stream(_ keys: Keys, home: Topic?, payer: [UInt8]) -> OutboxStream {
        keys.outbox(of: home, payer: payer, isFollowUp: isFollowUp)
    }

    /// The three words for scripts: the stream's limit, the payer's share of it or 0, and the payer.
    ///
    /// A service has no share of its own below the stream's limit, so it may fill its stream.
    public func terms(_ payer: [UInt8], _ role: CommandRole) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: laneMax)
        text.append(UInt8(ascii: " "))
        text.append(decimal: role == .service ? 0 : payerMax)
        text.append(UInt8(ascii: " "))
        return text + payer
    }
}
