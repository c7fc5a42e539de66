import RedisLink

/// Findings of `switchboard check` about replicas, and about the Sentinels that watch them.
extension Preflight {
    /// Redis's settings of replicas; `nil` where it did not answer.
    struct ReplicaSettings {
        /// `min-replicas-to-write`.
        var leastReplicas: Int?
        /// `repl-backlog-ttl`, seconds.
        var backlogSeconds: Int?
    }

    /// Judges the Sentinels' answers; nothing for one server.
    static func judge(_ group: SentinelGroup, _ report: SentinelReport) -> [Finding] {
        let configured = group.sentinels.count
        var findings: [Finding] = []
        findings.add(
            report.answering == configured ? .good : .doubtful,
            "\(report.answering) of \(configured) Sentinels answer; \(group.majority) must name one master")
        if report.sentinels > configured {
            let verb = configured == 1 ? "is" : "are"
            findings.add(
                .doubtful,
                "the Sentinels know of \(report.sentinels) Sentinels, \(configured) \(verb) configured:"
                    + " name all in --redis, so that more than half of them decide")
        }
        if configured < 3 {
            findings.add(.doubtful, "fewer than three Sentinels cannot outvote one that is cut off: run three or more")
        }
        if report.answering > 0, report.quorum * 2 <= report.sentinels {
            findings.add(
                .doubtful,
                "a quorum of \(report.quorum) of \(report.sentinels) Sentinels is not more than half: raise it")
        }
        if report.answering > 0, report.replicas == 0 {
            findings.add(.doubtful, "the Sentinels know of no replica: nothing can take the master's place")
        }
        return findings
    }

    /// Judges a master's settings for replicas; `wait` is `--redis-wait`.
    static func judge(_ facts: ServerFacts, _ settings: ReplicaSettings, wait: Int) -> [Finding] {
        var findings: [Finding] = []
        if wait > facts.connectedReplicas {
            findings.add(
                .wrong,
                "--redis-wait \(wait) and \(facts.connectedReplicas) replicas: nothing can be acknowledged;"
                    + " attach replicas, or lower it")
        } else if wait > 0, wait < facts.connectedReplicas {
            findings.add(
                .doubtful,
                "--redis-wait \(wait) of \(facts.connectedReplicas) replicas: another one may be promoted, and then"
                    + " lacks what was acknowledged")
        }
        guard facts.connectedReplicas > 0 else { return findings }
        if settings.leastReplicas == 0 {
            findings.add(
                .doubtful,
                "min-replicas-to-write is 0: a master that was cut off goes on taking writes that are lost;"
                    + " set it to 1, and min-replicas-max-lag to 1")
        }
        if let seconds = settings.backlogSeconds, seconds > 0 {
            findings.add(
                .doubtful,
                "repl-backlog-ttl is \(seconds) s: a master without replicas for so long begins new epochs;"
                    + " set it to 0")
        }
        return findings
    }
}
