import Testing

@testable import RedisLink

/// P is the old master, Q the promoted replica, and H the history that P wrote.
@Suite struct MasterHistoryTests {
    static let p = SentinelGroup.Address(host: "p", port: 1)
    static let q = SentinelGroup.Address(host: "q", port: 2)
    static let zeros = String(repeating: "0", count: 40)

    static func id(_ letter: String) -> String { String(repeating: letter, count: 40) }

    /// What a server says: `process` is its run id, `of` its replication id, `former` its second one.
    static func says(
        _ process: String, role: String = "master", of history: String, former: String? = nil, until end: Int = -1,
        more: [String] = []
    ) throws -> ServerFacts {
        let lines =
            ["run_id:" + id(process), "redis_version:7.0.15", "role:" + role, "master_repl_offset:500"]
            + ["master_replid:" + id(history), "master_replid2:" + (former.map(id) ?? zeros)]
            + ["second_repl_offset:\(end)", "connected_slaves:1"] + more
        return try #require(ServerFacts(info: bytes(lines.joined(separator: "\n"))))
    }

    static func afterP() throws -> MasterHistory {
        var history = MasterHistory()
        #expect(history.take(try says("1", of: "a"), at: p, epoch: 1, old: nil) == .accepted(isProven: nil))
        return history
    }

    @Test func aPlannedFailoverIsProvenByTheOldMasterItself() throws {
        var history = try MasterHistoryTests.afterP()
        let next = try MasterHistoryTests.says("2", of: "b", former: "a", until: 400)
        #expect(history.needsOld(for: next))
        let old = try MasterHistoryTests.says("1", role: "slave", of: "b", former: "a", until: 400)
        #expect(history.take(next, at: MasterHistoryTests.q, epoch: 1, old: old) == .accepted(isProven: true))
        #expect(history.current?.admitted == [bytes(MasterHistoryTests.id("a"))])
        // And back: what was proven before goes on, too.
        let back = try MasterHistoryTests.says("1", of: "c", former: "b", until: 600)
        let left = try MasterHistoryTests.says("2", role: "slave", of: "c", former: "b", until: 590)
        #expect(history.take(back, at: MasterHistoryTests.p, epoch: 1, old: left) == .accepted(isProven: true))
        #expect(history.current?.admitted == ["b", "a"].map { bytes(MasterHistoryTests.id($0)) })
    }

    /// Each is one of the counterexamples, and misses one condition of the proof.
    struct Broken: Sendable {
        let name: String
        var next: (process: String, history: String, former: String?, end: Int) = ("2", "b", "a", 400)
        var old: (process: String, role: String, history: String, former: String?, end: Int)? = (
            "1", "slave", "b", "a", 400
        )
    }

    static let counterexamples: [Broken] = [
        Broken(name: "C1: P was synchronised in full, and what it added is gone", old: ("1", "slave", "b", nil, -1)),
        Broken(name: "C2: P is dead; what others know proves nothing", old: nil),
        Broken(name: "C3: offsets agree, histories do not", next: ("2", "b", "d", 400)),
        Broken(name: "C4: P is still a master, and executes what it had buffered", old: ("1", "master", "a", nil, -1)),
        Broken(name: "C5: P stands still, and goes on when the pause ends", old: ("1", "master", "b", "a", 400)),
        Broken(name: "C6: Q has forgotten that it was a replica", next: ("2", "b", nil, -1)),
        Broken(name: "C7, C8: P has bytes behind the end that Q has", old: ("1", "slave", "b", "a", 401)),
        Broken(name: "C9: P was restarted empty", old: ("3", "slave", "b", "a", 400)),
        Broken(name: "P follows somebody else", old: ("1", "slave", "d", "a", 400)),
        Broken(name: "P joined with another history", old: ("1", "slave", "b", "d", 400)),
        Broken(name: "the end is not told", next: ("2", "b", "a", -1)),
    ]

    @Test(arguments: counterexamples.indices)
    func withoutAnyOneConditionEveryEpochEnds(_ index: Int) throws {
        let broken = MasterHistoryTests.counterexamples[index]
        var history = try MasterHistoryTests.afterP()
        let next = try MasterHistoryTests.says(
            broken.next.process, of: broken.next.history, former: broken.next.former, until: broken.next.end)
        let old = try broken.old.map {
            try MasterHistoryTests.says($0.process, role: $0.role, of: $0.history, former: $0.former, until: $0.end)
        }
        #expect(
            history.take(next, at: MasterHistoryTests.q, epoch: 2, old: old) == .accepted(isProven: false),
            "\(broken.name)")
        #expect(history.current?.admitted == [], "\(broken.name)")
    }

    @Test func aReplicaThatTakesWritesProvesNothing() throws {
        var history = try MasterHistoryTests.afterP()
        let next = try MasterHistoryTests.says("2", of: "b", former: "a", until: 400)
        let old = try MasterHistoryTests.says(
            "1", role: "slave", of: "b", former: "a", until: 400, more: ["slave_read_only:0"])
        #expect(history.take(next, at: MasterHistoryTests.q, epoch: 1, old: old) == .accepted(isProven: false))
    }

    /// Who missed a link of the chain admits nothing.
    @Test func aFailoverThatNobodySawIsNotProven() throws {
        var history = try MasterHistoryTests.afterP()
        let third = try MasterHistoryTests.says("1", of: "c", former: "b", until: 600)
        #expect(!history.needsOld(for: third))
        #expect(history.take(third, at: MasterHistoryTests.p, epoch: 1, old: nil) == .accepted(isProven: false))
    }

    @Test func aMasterThatWasLeftIsTakenAgainOnlyAfterItWasAReplica() throws {
        var history = try MasterHistoryTests.afterP()
        let next = try MasterHistoryTests.says("2", of: "b", former: "a", until: 400)
        #expect(history.take(next, at: MasterHistoryTests.q, epoch: 2, old: nil) == .accepted(isProven: false))
        let zombie = try MasterHistoryTests.says("1", of: "a")
        guard case .refused(let earlier) = history.take(zombie, at: MasterHistoryTests.p, epoch: 1, old: nil),
            case .refused(let left) = history.take(zombie, at: MasterHistoryTests.p, epoch: 3, old: nil)
        else {
            Issue.record("the zombie was taken")
            return
        }
        #expect(earlier.kind == .noMaster && left.kind == .noMaster)
        #expect(history.current?.address == MasterHistoryTests.q, "and the master stays")
        let promoted = try MasterHistoryTests.says("1", of: "d", former: "b", until: 900)
        #expect(history.take(promoted, at: MasterHistoryTests.p, epoch: 3, old: nil) == .accepted(isProven: false))
    }

    @Test func theSameMasterWithTheSameHistoryIsNoChangeAndWithAnotherIs() throws {
        var history = try MasterHistoryTests.afterP()
        let same = try MasterHistoryTests.says("1", of: "a")
        // A reset of the Sentinels begins their count anew.
        #expect(history.take(same, at: MasterHistoryTests.p, epoch: 0, old: nil) == .accepted(isProven: nil))
        let restarted = try MasterHistoryTests.says("4", of: "e")
        #expect(history.take(restarted, at: MasterHistoryTests.p, epoch: 0, old: nil) == .accepted(isProven: false))
    }

    @Test func aLongChainIsCutAndForgetsTheOldestOnly() throws {
        var history = try MasterHistoryTests.afterP()
        let letters = "abcdef123456789".map(String.init)
        for step in 1..<letters.count {
            let (here, there) = (letters[step - 1], letters[step])
            let processes = step % 2 == 1 ? ("2", "1") : ("1", "2")
            let next = try MasterHistoryTests.says(processes.0, of: there, former: here, until: 400 + step)
            let old = try MasterHistoryTests.says(
                processes.1, role: "slave", of: there, former: here, until: 400 + step)
            let address = step % 2 == 1 ? MasterHistoryTests.q : MasterHistoryTests.p
            #expect(history.take(next, at: address, epoch: 1, old: old) == .accepted(isProven: true), "\(step)")
        }
        #expect(history.current?.admitted.count == MasterHistory.kept)
        #expect(history.current?.admitted.first == bytes(MasterHistoryTests.id("8")))
    }
}
