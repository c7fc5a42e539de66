import Core
import Testing

/// Entries and news of presence as Redis has them.
@Suite struct PresenceTests {
    private static let json = JSON.Limits(depthMax: 10, elementsMax: 100)

    private func news(_ text: String) -> PresenceUpdate? {
        PresenceUpdate.parse(Array(text.utf8), bytesMax: 300, json: PresenceTests.json)
    }

    @Test func anEntryIsReadAsItWasWritten() throws {
        let id = PresenceID(node: Array("node-1".utf8), shard: 3, number: 17)
        #expect(String(decoding: id.bytes, as: UTF8.self) == "node-1.3.17")
        #expect(Array(id.node) == Array("node-1".utf8))
        #expect(id.isOf(node: Array("node-1".utf8), shard: 3))
        #expect(!id.isOf(node: Array("node-1".utf8), shard: 1) && !id.isOf(node: Array("node".utf8), shard: 3))
        for user in [Array("u\"1".utf8), nil] {
            let member = PresenceMember(
                id: id, key: Array("k\n".utf8), user: user, meta: Array("{\"a\":[1]}".utf8), revision: 9)
            let value = try JSON(parsing: member.text, limits: PresenceTests.json).root
            #expect(PresenceMember.read(id, value) == member)
            #expect(String(decoding: member.reference, as: UTF8.self) == "node-1.3.17/9")
        }
    }

    @Test func newsAreRead() throws {
        let told = try #require(
            news("He-1 7\n{\"left\":[\"a.0.1\"],\"here\":[[\"b.0.2\",{\"k\":\"x\",\"u\":\"u1\",\"r\":1,\"m\":{}}]]}"))
        #expect(told.version.offset == 7 && told.left.map(\.bytes) == [Array("a.0.1".utf8)])
        #expect(told.here.map(\.user) == [Array("u1".utf8)])
        #expect(news("He-1 1\n{\"left\":[],\"here\":[]}") != nil)
    }

    @Test(arguments: [
        "", "H", "H\n{}", "He 1\n", "He 0\n{\"left\":[],\"here\":[]}", "He 1 2\n{\"left\":[],\"here\":[]}",
        "Pe 1\n{\"left\":[],\"here\":[]}", "H 1\n{\"left\":[],\"here\":[]}", "He x\n{\"left\":[],\"here\":[]}",
        "He 1\n{\"left\":[]}", "He 1\n{\"left\":{},\"here\":[]}", "He 1\n{\"left\":[\"a b\"],\"here\":[]}",
        "He 1\n{\"left\":[1],\"here\":[]}", "He 1\n{\"left\":[],\"here\":[[\"a\"]]}",
        "He 1\n{\"left\":[],\"here\":[[\"a\",{\"k\":\"x\",\"r\":1}]]}",
        "He 1\n{\"left\":[],\"here\":[[\"a\",{\"k\":\"x\",\"r\":0,\"m\":{}}]]}",
        "He 1\n{\"left\":[],\"here\":[[\"a\",{\"k\":\"x\",\"u\":1,\"r\":1,\"m\":{}}]]}",
        "He 1\n{\"left\":[],\"here\":[[\"a\",{\"k\":1,\"r\":1,\"m\":{}}]]}",
        "He 1\n{\"left\":[],\"here\":[[\"a\",{\"k\":\"x\",\"r\":1,\"m\":[]}]]}",
        "He 1\n{\"left\":[],\"here\":[]}" + String(repeating: " ", count: 300),
    ])
    func whatIsNoNewsIsRefused(_ text: String) {
        #expect(news(text) == nil)
    }
}
