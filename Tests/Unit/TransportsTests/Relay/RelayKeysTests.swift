import Core
import Testing

@testable import Transports

/// Only a node can make the id of a session.
@Suite struct RelayKeysTests {
    private let there = ShardAddress(node: Array("node-_09".utf8), shard: 0)

    private func keys(secret: UInt8 = 7) -> RelayKeys {
        RelayKeys(secret: Array(repeating: secret, count: NodeSeal.secretBytes))
    }

    @Test func anIDSaysWhereAndIsKnownByEveryNode() {
        let id = keys().sessionID(at: there)
        #expect(RelayKeys.home(of: id) == there)
        #expect(keys().isGenuine(id))
        #expect(!keys(secret: 8).isGenuine(id))
        #expect(keys().sessionID(at: there) != id)
    }

    /// A client could have sent relays to a node of its choice, or to a channel that it names.
    @Test func noByteOfAnIDCanBeAnother() {
        let keys = keys()
        let id = keys.sessionID(at: there)
        for index in id.indices {
            for byte in [UInt8(ascii: "A"), UInt8(ascii: "."), UInt8(ascii: "1"), 0x00, 0xff] where byte != id[index] {
                var forged = id
                forged[index] = byte
                #expect(!keys.isGenuine(forged), "byte \(index)")
            }
        }
        for count in 0..<id.count { #expect(!keys.isGenuine(Array(id.prefix(count)))) }
        #expect(!keys.isGenuine(id + id.suffix(1)))
    }

    @Test(arguments: [
        "", "a", "a.0", "a.0.b.c", ".0.b", "a..b", "a.-1.b", "a.01.b", "a.1024.b", "a b.0.c", "a\n.0.c", "é.0.c",
        "#x.0.c",
        "123456789012345678901234567890123.0.b",
    ])
    func aNameThatIsNoneHasNoHome(_ text: String) {
        #expect(RelayKeys.home(of: Array(text.utf8)) == nil)
    }
}
