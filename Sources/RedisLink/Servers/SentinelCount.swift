/// What the Sentinels of a group say together.
///
/// One of them alone may be cut off together with an old master and go on naming it. So a master is who more than half of
/// the *configured* ones name, and none of the others may know of a later failover. Pure.
enum SentinelCount: Equatable {
    /// The master, and the number of the failover that made it one.
    case master(SentinelGroup.Address, epoch: Int)
    /// There is none that may be used.
    case none(RedisFailure)

    /// Counts one answer of each configured Sentinel.
    init(_ answers: [SentinelAnswer], of group: SentinelGroup) {
        var votes: [SentinelGroup.Address: (count: Int, epoch: Int)] = [:]
        var latest = 0
        var (named, unknown, silent) = (0, 0, 0)
        for answer in answers {
            switch answer {
            case .silent: silent += 1
            case .unknown: unknown += 1
            case .named(let answer):
                named += 1
                latest = max(latest, answer.epoch)
                let before = votes[answer.address] ?? (0, 0)
                votes[answer.address] = (before.count + 1, max(before.epoch, answer.epoch))
            }
        }
        let all = group.sentinels.count
        if let (address, vote) = votes.first(where: { $0.value.count >= group.majority }) {
            self = vote.epoch >= latest ? .master(address, epoch: vote.epoch) : .none(SentinelCount.changing)
        } else if unknown >= group.majority {
            let name = String(decoding: group.name, as: UTF8.self)
            self = .none(RedisFailure(.noMaster, text: "the Sentinels watch no master named \(name)"))
        } else if named < group.majority {
            let failure = SentinelCount.reason(answers)
            self = .none(RedisFailure(.noMaster, text: "\(silent) of \(all) Sentinels do not answer\(failure)"))
        } else {
            self = .none(SentinelCount.changing)
        }
    }

    private static let changing = RedisFailure(.noMaster, detail: "the Sentinels do not agree on a master")

    /// Why a Sentinel is silent, where it is for another reason than that nobody is there.
    private static func reason(_ answers: [SentinelAnswer]) -> String {
        for case .silent(let failure) in answers where failure.kind != .disconnected && failure.kind != .timedOut {
            return ": \(failure.metricLabel) \(failure.detail)"
        }
        return ""
    }
}
