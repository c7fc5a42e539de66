/// The common answer of a group's Sentinels.
///
/// A single Sentinel may be cut off together with an old master and keep naming it. So more than half of the
/// *configured* ones must name a master, and none of the others may know of a later failover. Pure.
enum SentinelCount: Equatable {
    /// The master, and the number of the failover that made it one.
    case master(SentinelGroup.Address, epoch: Int)
    /// There is no usable master.
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

    /// The reason why a Sentinel is silent, unless it is only unreachable.
    private static func reason(_ answers: [SentinelAnswer]) -> String {
        for case .silent(let failure) in answers where failure.kind != .disconnected && failure.kind != .timedOut {
            return ": \(failure.metricLabel) \(failure.detail)"
        }
        return ""
    }
}
