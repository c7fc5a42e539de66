/// The last answers of a group's Sentinels, summarised for `switchboard check` and the log.
public struct SentinelReport: Equatable, Sendable {
    /// Sentinels that named a master, or answered that they know none of that name.
    public var answering = 0
    /// The most Sentinels that one of them knows of.
    public var sentinels = 0
    /// The least quorum that one of them has; 0 when none reported it.
    public var quorum = 0
    /// The most replicas that one of them knows of.
    public var replicas = 0

    /// Begins without any answer.
    public init() {}

    /// Reads the answers.
    init(_ answers: [SentinelAnswer]) {
        for answer in answers {
            switch answer {
            case .silent: break
            case .unknown: answering += 1
            case .named(let named):
                answering += 1
                sentinels = max(sentinels, named.sentinels)
                quorum = quorum == 0 ? named.quorum : min(quorum, named.quorum)
                replicas = max(replicas, named.replicas)
            }
        }
    }
}
