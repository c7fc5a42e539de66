import Core
import Dialects
import Testing

@testable import Transports

/// Who may name a session, and who may speak for a node.
@Suite struct HopKeysTests {
    private let here = ShardAddress(node: Array("nodeHere".utf8), shard: 1)
    private let there = ShardAddress(node: Array("node-_09".utf8), shard: 0)

    private func keys(_ home: ShardAddress, secret: UInt8 = 7) throws -> RelayKeys {
        try #require(RelayKeys(secret: Array(repeating: secret, count: RelayKeys.secretBytes), of: home))
    }

    @Test func aSecretHasItsLength() {
        for count in [0, 31, 33] { #expect(RelayKeys(secret: Array(repeating: 1, count: count), of: here) == nil) }
    }

    // MARK: Ids

    @Test func anIDSaysWhereAndIsKnownByEveryNode() throws {
        let id = try keys(there).sessionID(at: there)
        #expect(RelayKeys.home(of: id) == there)
        #expect(try keys(here).isGenuine(id))
        #expect(try !keys(here, secret: 8).isGenuine(id))
        #expect(try keys(there).sessionID(at: there) != id)
    }

    /// A client could have sent relays to a node of its choice, or to a channel that it names.
    @Test func noByteOfAnIDCanBeAnother() throws {
        let keys = try keys(here)
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

    // MARK: Messages

    private let poll = RelayMessage.send(
        number: 3, session: Array("s".utf8), body: Array("40{\"token\":\"secret\"}".utf8))

    @Test func aMessageIsReadByTheShardThatItIsForAndNobodyElse() throws {
        let message = try keys(there).envelope(poll, from: there, to: here, number: 5)
        #expect(!String(decoding: message, as: UTF8.self).contains("secret"))
        let envelope = try #require(RelayEnvelope(message))
        #expect(envelope.from == there && envelope.shard == 1 && envelope.number == 5)
        #expect(try keys(here).open(envelope, at: here) == poll)
        #expect(try keys(here, secret: 8).open(envelope, at: here) == nil)
        for (node, shard) in [("nodeHere", 0), ("another0", 1)] {
            let other = ShardAddress(node: Array(node.utf8), shard: shard)
            #expect(try keys(other).open(envelope, at: other) == nil)
        }
    }

    @Test func noByteOfAMessageCanBeAnother() throws {
        let keys = try keys(here)
        let message = try self.keys(there).envelope(poll, from: there, to: here, number: 5)
        for index in message.indices {
            var forged = message
            forged[index] ^= 1
            #expect(RelayEnvelope(forged).flatMap { keys.open($0, at: here) } == nil, "byte \(index)")
        }
    }

    /// What a node says to others would otherwise come back to it as another's word.
    @Test func aNodeDoesNotHearItself() throws {
        let keys = try keys(here)
        let message = keys.envelope(.asks, from: here, to: here, number: 1)
        #expect(try keys.open(#require(RelayEnvelope(message)), at: here) == nil)
    }

    @Test(arguments: [
        "", "\n", "a 0 0 1", "a 0 0\nx", "a 0 0 1 2\nx", "a 0 x 1\nx", "a  0 1\nx", "a 0 0 -1\nx", "A 0 0 01\nx",
        "é 0 0 1\nx",
    ])
    func whatHasNoHeadIsNoMessage(_ text: String) {
        #expect(RelayEnvelope(Array(text.utf8)) == nil)
    }
}
