import Core
import Scripts
import Testing

@testable import Worker

@Suite struct PartitionTests {
    /// A partition that lease.lua does not know would be refused for ever: nobody would refresh its shops.
    @Test func theScriptTakesEveryPartition() throws {
        let script = try #require(Scripts.files.first { $0.name == "lease" }?.source)
        let start = "local PARTITIONS_MAX = "
        let lines = String(decoding: script, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(start) })
        let most = try #require(ASCII.decimal(Array(line.dropFirst(start.count).utf8)))
        #expect(Partition.count <= most && Partition.outbox < most)
    }
}
