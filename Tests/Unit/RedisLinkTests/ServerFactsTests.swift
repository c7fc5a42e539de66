import RedisLink
import Testing

@Suite struct ServerFactsTests {
    static let runID = "f8e4f17369954a31e22288d5d4c3eab724753a0e"
    static let text =
        "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:\(runID)\r\nexecutable:/a:b\r\n\r\n"
        + "# Replication\r\nrole:master\r\nconnected_slaves:2\r\n\r\n# Persistence\r\nloading:0\r\nasync_loading:0\r\n"
        + "aof_enabled:1\r\n# Cluster\r\ncluster_enabled:0\r\n# Memory\r\nmaxmemory_policy:allkeys-lru\r\n"

    @Test func theFactsOfARealServerAreRead() throws {
        let facts = try #require(ServerFacts(info: bytes(ServerFactsTests.text)))
        #expect(facts.runID == bytes(ServerFactsTests.runID))
        #expect(facts.version == [7, 0, 15])
        #expect(facts.role == .master)
        #expect(!facts.isLoading)
        #expect(facts.hasAppendOnlyFile)
        #expect(!facts.isNodeOfCluster)
        #expect(facts.connectedReplicas == 2)
        #expect(facts.evictsKeys)
        #expect(facts.isAtLeast(major: 6, minor: 2) && facts.isAtLeast(major: 7, minor: 0))
        #expect(!facts.isAtLeast(major: 7, minor: 1) && !facts.isAtLeast(major: 8, minor: 0))
    }

    static let base = ["run_id:" + runID, "redis_version:6.2", "role:slave"]

    @Test func eachFactFollowsItsLine() throws {
        func facts(_ lines: String...) -> ServerFacts? {
            ServerFacts(info: bytes((ServerFactsTests.base + lines).joined(separator: "\n")))
        }
        let plain = try #require(facts())
        #expect(
            plain.role == .replica && plain.version == [6, 2, 0] && plain.evictionPolicy == nil && !plain.evictsKeys)
        #expect(try #require(facts("loading:1")).isLoading)
        #expect(try #require(facts("async_loading:1")).isLoading)
        #expect(try #require(facts("cluster_enabled:1")).isNodeOfCluster)
        #expect(try #require(facts("redis_mode:cluster")).isNodeOfCluster)
        #expect(!(try #require(facts("maxmemory_policy:noeviction")).evictsKeys))
        #expect(try #require(facts("connected_slaves:x")).connectedReplicas == 0)
    }

    @Test(arguments: [
        "", "\r\n", "garbage", ":", "role:master", "run_id:abc\nredis_version:7.0\nrole:master",
        "run_id:\(runID)\nredis_version:7\nrole:master", "run_id:\(runID)\nredis_version:x.y\nrole:master",
        "run_id:\(runID)\nredis_version:7.0\nrole:sentinel", "run_id:\(runID)\nredis_version:7.0",
        "redis_version:7.0\nrole:master", "run_id:\(runID)\nredis_version:99999999999999999999.1\nrole:master",
        "run_id:zzz4f17369954a31e22288d5d4c3eab724753a0e\nredis_version:7.0\nrole:master",
    ])
    func aTextWithoutTheMainFactsIsRefused(_ text: String) {
        #expect(ServerFacts(info: bytes(text)) == nil)
    }

    @Test(arguments: [("always", "1", true), ("everysec", "1", false), ("always", "0", false)])
    func everyWriteIsSyncedOnlyWithAnAppendOnlyFile(_ sync: String, _ enabled: String, _ expected: Bool) throws {
        let lines = ServerFactsTests.base + ["aof_enabled:" + enabled]
        var facts = try #require(ServerFacts(info: bytes(lines.joined(separator: "\r\n"))))
        facts.apply(config: [bytes("appendfsync"): bytes(sync), bytes("notify-keyspace-events"): bytes("AKE")])
        #expect(facts.syncsEveryWrite == expected)
        #expect(facts.keyspaceEvents == bytes("AKE"))
    }

    @Test func configurationIsNamesAndValuesInTurn() {
        func text(_ text: String) -> RESPValue { .string(bytes(text)) }
        #expect(ServerFacts.config(.array([text("a"), text("1")])) == [bytes("a"): bytes("1")])
        #expect(ServerFacts.config(.array([])) == [:])
        for wrong: RESPValue in [.null, .array([text("a")]), .array([text("a"), .null]), .error(bytes("NOPERM"))] {
            #expect(ServerFacts.config(wrong) == nil)
        }
    }

    @Test func aSentinelTellsItsModeAndNoRole() throws {
        let lines = ["run_id:" + ServerFactsTests.runID, "redis_version:7.0", "redis_mode:sentinel"]
        #expect(try #require(ServerFacts(info: bytes(lines.joined(separator: "\n")))).role == .sentinel)
    }

    static let replid = "8371b4fb1155b71f4a04d3e1bc3e18c4a990aeeb"
    static let zeros = String(repeating: "0", count: 40)

    /// What a server's replication looks like, and whether its history is told by the run id, and may have the `+`.
    static let lives: [(lines: [String], isUnused: Bool)] = [
        (["connected_slaves:0", "master_replid2:\(zeros)", "second_repl_offset:-1", "master_repl_offset:0"], true),
        // The first replica moves the offset on, and its leaving does not bring it back.
        (["connected_slaves:1", "master_replid2:\(zeros)", "second_repl_offset:-1", "master_repl_offset:1"], false),
        // After `repl-backlog-ttl` without replicas the second id is zeros again; the offset stays.
        (["connected_slaves:0", "master_replid2:\(zeros)", "second_repl_offset:-1", "master_repl_offset:900"], false),
        // `REPLICAOF x` and `REPLICAOF NO ONE` without ever reaching x.
        (["connected_slaves:0", "master_replid2:\(replid)", "second_repl_offset:1", "master_repl_offset:0"], false),
    ]

    @Test(arguments: lives.indices)
    func aServerWithReplicationIsKnownByItsHistoryAndTrustsNoSync(_ index: Int) throws {
        let (more, isUnused) = ServerFactsTests.lives[index]
        let lines =
            ["run_id:" + ServerFactsTests.runID, "redis_version:7.0", "role:master", "aof_enabled:1"]
            + ["master_replid:" + ServerFactsTests.replid] + more
        var facts = try #require(ServerFacts(info: bytes(lines.joined(separator: "\r\n"))))
        #expect(facts.fence == bytes(isUnused ? ServerFactsTests.runID : ServerFactsTests.replid))
        facts.apply(config: [bytes("appendfsync"): bytes("always")])
        #expect(facts.fence == bytes(isUnused ? ServerFactsTests.runID + "+" : ServerFactsTests.replid))
    }

    @Test func whatAReplicaFollowsIsReadAndHostileNumbersAreNone() throws {
        func facts(_ lines: String...) -> ReplicationFacts? {
            ReplicationFacts(info: bytes((["role:slave"] + lines).joined(separator: "\r\n")))
        }
        let replica = try #require(
            facts("master_host:10.0.0.7", "master_port:6380", "master_replid:\(ServerFactsTests.replid)"))
        #expect(replica.leader?.text == "10.0.0.7:6380" && replica.id == bytes(ServerFactsTests.replid))
        #expect(try #require(facts("master_host:h", "master_port:65536")).leader == nil)
        #expect(try #require(facts("master_host:", "master_port:1")).leader == nil)
        #expect(try #require(facts("slave_read_only:0")).isReadOnly == false)
        let odd = try #require(
            facts("master_replid:short", "second_repl_offset:99999999999999999999", "connected_slaves:x"))
        #expect(odd.id.isEmpty && odd.secondOffset == nil && odd.connectedReplicas == 0 && odd.secondID == nil)
        #expect(ReplicationFacts(info: bytes("master_replid:x")) == nil)
    }
}
