import Core
import Reactors
import RedisLink
import Service

/// Lines of `switchboard check` about the machine's clock and the live processes.
extension Preflight {
    /// Asks Redis for its time and for the live processes; `take` gets these and the findings.
    static func ask(
        _ link: any RedisCalls, _ keys: Keys, boundMs: Int, _ take: @escaping ([NodeEntry], [Finding]) -> Void
    ) {
        let beganMs = Clock.wallMs()
        link.call(NodeCall.call(keys, nil, keepMs: 0)) { result in
            guard case .success(let value) = result, let answer = NodeCall.Answer(value) else { return take([], []) }
            let offsetMs = (beganMs + Clock.wallMs()) / 2 - answer.timeMs
            take(answer.others, judge(answer, offsetMs: offsetMs, boundMs: boundMs))
        }
    }

    /// Judges the answer; `offsetMs` is the milliseconds by which this machine's clock is ahead of Redis's.
    static func judge(_ answer: NodeCall.Answer, offsetMs: Int, boundMs: Int) -> [Finding] {
        let verdict = ClockVerdict(own: offsetMs, others: answer.others.compactMap(\.offsetMs), boundMs: boundMs)
        var findings: [Finding] = []
        if let mend = verdict.mend {
            findings.add(.doubtful, "this machine's clock is \(offsetMs) ms ahead of Redis's: \(mend)")
        } else {
            findings.add(.good, "this machine's clock agrees with Redis's")
        }
        let versions = Set(answer.others.map(\.version)).subtracting([ProductVersion.text]).sorted()
        if !versions.isEmpty {
            findings.add(
                .doubtful,
                "this is version \(ProductVersion.text), and processes of version \(versions.joined(separator: ", "))"
                    + " work on the same keys: let all have one version soon")
        }
        return findings
    }
}
