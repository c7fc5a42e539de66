import Core
import Testing

@testable import Transports

/// A message between nodes is read once, by the shard that it is for.
@Suite struct NodeSealTests {
    private static let here = ShardAddress(node: Array("nodeHere".utf8), shard: 1)
    private static let there = ShardAddress(node: Array("node-_09".utf8), shard: 0)
    private static let text = Array("a secret word".utf8)

    private static func seal(
        _ own: ShardAddress, _ purpose: NodeSeal.Purpose = .relay, secret: UInt8 = 7
    ) throws -> NodeSeal {
        try #require(NodeSeal(purpose, secret: Array(repeating: secret, count: NodeSeal.secretBytes), of: own))
    }

    private static func open(_ message: [UInt8], _ seal: NodeSeal) -> [UInt8]? {
        var seal = seal
        return NodeEnvelope(message).flatMap { seal.open($0) }
    }

    @Test func aSecretHasItsLength() {
        for count in [0, 31, 33] {
            #expect(NodeSeal(.relay, secret: Array(repeating: 1, count: count), of: Self.here) == nil)
        }
    }

    @Test(arguments: [NodeSeal.Purpose.relay, .fleet])
    func aMessageIsReadByTheShardThatItIsForAndNobodyElse(_ purpose: NodeSeal.Purpose) throws {
        var sender = try Self.seal(Self.there, purpose)
        let message = sender.close(Self.text, to: Self.here)
        #expect(!String(decoding: message, as: UTF8.self).contains("secret"))
        let envelope = try #require(NodeEnvelope(message))
        #expect(envelope.from == Self.there && envelope.shard == 1 && envelope.purpose == purpose)
        #expect(NodeEnvelope.isFleet(message) == (purpose == .fleet))
        #expect(Self.open(message, try Self.seal(Self.here, purpose)) == Self.text)
        #expect(Self.open(message, try Self.seal(Self.here, purpose, secret: 8)) == nil)
        for (node, shard) in [("nodeHere", 0), ("another0", 1)] {
            let other = ShardAddress(node: Array(node.utf8), shard: shard)
            #expect(Self.open(message, try Self.seal(other, purpose)) == nil)
        }
    }

    /// The formats that nodes of earlier versions write and read.
    @Test func theFirstLineIsNodeShardReceiverAndNumber() throws {
        for (purpose, head) in [(NodeSeal.Purpose.relay, "node-_09 0 1 2\n"), (.fleet, "?node-_09 0 1 2\n")] {
            var sender = try Self.seal(Self.there, purpose)
            _ = sender.close(Self.text, to: Self.here)
            #expect(sender.close(Self.text, to: Self.here).starts(with: head.utf8))
        }
    }

    /// A client of Redis that may subscribe could have asked the same again, or closed a session a second time.
    @Test(arguments: [NodeSeal.Purpose.relay, .fleet])
    func aRepeatedMessageIsRefusedAndAnOlderOneToo(_ purpose: NodeSeal.Purpose) throws {
        var (sender, receiver) = (try Self.seal(Self.there, purpose), try Self.seal(Self.here, purpose))
        let messages = try (0..<3).map { _ in try #require(NodeEnvelope(sender.close(Self.text, to: Self.here))) }
        #expect(receiver.open(messages[1]) == Self.text)
        #expect(receiver.open(messages[1]) == nil, "the same message")
        #expect(receiver.open(messages[0]) == nil, "an older one")
        #expect(receiver.open(messages[2]) == Self.text)
        // A forged number does not shut the sender out.
        var forged = sender.close(Self.text, to: Self.here)
        let place = try #require(forged.firstIndex(of: UInt8(ascii: "4")))
        forged[place] = UInt8(ascii: "9")
        #expect(NodeEnvelope(forged).flatMap { receiver.open($0) } == nil)
        let next = try #require(NodeEnvelope(sender.close(Self.text, to: Self.here)))
        #expect(receiver.open(next) == Self.text)
    }

    @Test func aMessageOfOnePurposeIsNoneOfTheOther() throws {
        var sender = try Self.seal(Self.there, .relay)
        let message = sender.close(Self.text, to: Self.here)
        #expect(Self.open(message, try Self.seal(Self.here, .fleet)) == nil)
        #expect(Self.open([UInt8(ascii: "?")] + message, try Self.seal(Self.here, .fleet)) == nil)
    }

    /// Under a secret that returns, no number may be used twice.
    @Test func anotherSecretDoesNotResetTheNumbers() throws {
        var sender = try Self.seal(Self.there)
        let first = sender.close(Self.text, to: Self.here)
        sender.use(Array(repeating: 8, count: NodeSeal.secretBytes))
        #expect(Self.open(sender.close(Self.text, to: Self.here), try Self.seal(Self.here, secret: 8)) == Self.text)
        sender.use(Array(repeating: 7, count: NodeSeal.secretBytes))
        let last = sender.close(Self.text, to: Self.here)
        #expect(last != first)
        #expect(Self.open(last, try Self.seal(Self.here)) == Self.text)
    }

    @Test(arguments: [NodeSeal.Purpose.relay, .fleet])
    func noByteOfAMessageCanBeAnother(_ purpose: NodeSeal.Purpose) throws {
        var sender = try Self.seal(Self.there, purpose)
        let (message, receiver) = (sender.close(Self.text, to: Self.here), try Self.seal(Self.here, purpose))
        for index in message.indices {
            var forged = message
            forged[index] ^= 1
            #expect(Self.open(forged, receiver) == nil, "byte \(index)")
            #expect(Self.open(Array(message.prefix(index)), receiver) == nil)
        }
    }

    /// A message of a node to others would otherwise return to it as another's.
    @Test func aNodeDoesNotReadItsOwnMessages() throws {
        var seal = try Self.seal(Self.here)
        #expect(Self.open(seal.close(Self.text, to: Self.here), seal) == nil)
    }

    @Test(arguments: [
        "", "\n", "a 0 0 1", "a 0 0\nx", "a 0 0 1 2\nx", "a 0 x 1\nx", "a  0 1\nx", "a 0 0 -1\nx", "A 0 0 01\nx",
        "é 0 0 1\nx", "?", "?\n", "? 0 0 1\nx", "?one 0 0\nx", "?one 0 x 1\nx", "?one 9999 0 1\nx", "??a 0 0 1\nx",
    ])
    func aMessageWithoutAHeadIsRefused(_ text: String) {
        #expect(NodeEnvelope(Array(text.utf8)) == nil)
    }
}
