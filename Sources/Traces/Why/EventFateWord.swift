extension EventFate {
    /// The fates by the words that trace and evidence use.
    public enum Word: String, CaseIterable, Sendable {
        case written, recovered, waiting, coming
        case had = "had_before"
        case joinedLater = "joined_later"
        case lostAtJoin = "lost_at_join"
        case otherEpochAtJoin = "other_epoch_at_join"
        case otherEpoch = "other_epoch"
        case conflated
        case gap
        case reset
        case unsent
        case leftBefore = "left_before"
        case unknown

        /// The weight of a session in an answer: a loss decides before a receipt, and a receipt before the rest.
        public var rank: Int {
            switch self {
            case _ where isLoss: Word.rankMax
            case .written, .recovered, .had: 2
            default: 1
            }
        }

        /// The largest ``rank``.
        public static let rankMax = 3

        /// Whether the session was subscribed and has not got the event.
        public var isLoss: Bool {
            switch self {
            case .conflated, .gap, .reset, .lostAtJoin, .otherEpochAtJoin, .unsent, .waiting, .coming: true
            case .written, .recovered, .had, .joinedLater, .otherEpoch, .leftBefore, .unknown: false
            }
        }
    }

    /// The word.
    public var word: Word {
        switch self {
        case .written: .written
        case .recovered: .recovered
        case .waiting: .waiting
        case .coming: .coming
        case .had: .had
        case .joinedLater: .joinedLater
        case .lostAtJoin: .lostAtJoin
        case .otherEpochAtJoin: .otherEpochAtJoin
        case .otherEpoch: .otherEpoch
        case .conflated: .conflated
        case .gap(let gap): gap.isReset ? .reset : .gap
        case .unsent: .unsent
        case .leftBefore: .leftBefore
        case .unknown: .unknown
        }
    }

    /// When the event was replaced or the gap was told, monotonic milliseconds; `nil` for other fates.
    public var atMs: Int? {
        switch self {
        case .conflated(let atMs, _): atMs
        case .gap(let gap): gap.atMs
        default: nil
        }
    }
}
