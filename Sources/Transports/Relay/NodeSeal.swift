public import Core
import Rights

/// The sealed messages between the shards of all nodes, for one purpose.
///
/// Each shard of each node seals under a key of its own, derived from the secret that all nodes share, and counts: no
/// number occurs twice under a key. So a client of Redis that may publish but not read the secret can neither write nor
/// read such a message, and one that may subscribe cannot repeat it. Pure.
public struct NodeSeal {
    /// The use of the messages, each of which has keys and numbers of its own.
    public enum Purpose: Sendable {
        /// Requests of polling clients.
        case relay
        /// Questions over all nodes.
        case fleet

        /// The byte before the first word; `nil` for none.
        var mark: UInt8? { self == .fleet ? UInt8(ascii: "?") : nil }

        /// The text from which the keys are derived.
        fileprivate var label: StaticString { self == .fleet ? "fleet questions of " : "hops of " }
    }

    /// Bytes of the secret.
    public static let secretBytes = 32
    /// Number of other nodes' shards whose last message number is kept.
    private static let sendersMax = 4_096

    private let purpose: Purpose
    private let own: ShardAddress
    private var secret: [UInt8]
    private var seal: Seal
    /// Messages sealed so far; another secret changes nothing about it, since the first one may return.
    private var sent: UInt64 = 0
    private var order = RelayOrder(sendersMax: NodeSeal.sendersMax)

    /// The seal of the shard at `own`; `nil` when the secret has the wrong length.
    public init?(_ purpose: Purpose, secret: [UInt8], of own: ShardAddress) {
        guard secret.count == NodeSeal.secretBytes else { return nil }
        (self.purpose, self.secret, self.own) = (purpose, secret, own)
        seal = NodeSeal.seal(purpose, secret, of: own)
    }

    /// Takes the secret of all nodes, which may have changed.
    public mutating func use(_ secret: [UInt8]) {
        guard secret.count == NodeSeal.secretBytes, secret != self.secret else { return }
        self.secret = secret
        seal = NodeSeal.seal(purpose, secret, of: own)
    }

    private static func seal(_ purpose: Purpose, _ secret: [UInt8], of home: ShardAddress) -> Seal {
        var text: [UInt8] = []
        text.append(text: purpose.label)
        text += home.idStart.dropLast()
        return Seal(key: Digest.hmacSHA256(key: secret, text))
    }

    /// The message to publish for a shard of another node.
    public mutating func close(_ text: [UInt8], to home: ShardAddress) -> [UInt8] {
        sent += 1
        var message = purpose.mark.map { [$0] } ?? []
        message += own.node
        for value in [own.shard, home.shard, Int(sent)] {
            message.append(UInt8(ascii: " "))
            message.append(decimal: value)
        }
        let sealed = seal.seal(text, number: sent, head: message + home.node)
        message.append(UInt8(ascii: "\n"))
        return message + sealed
    }

    /// The text of another node's message.
    ///
    /// `nil` unless that node has sealed it for this shard and this purpose, later than all others that were opened.
    public mutating func open(_ envelope: NodeEnvelope) -> [UInt8]? {
        guard envelope.purpose == purpose, envelope.shard == own.shard, envelope.from.node != own.node else {
            return nil
        }
        let seal = NodeSeal.seal(purpose, secret, of: envelope.from)
        guard let text = seal.open(envelope.sealed, number: envelope.number, head: Array(envelope.head) + own.node),
            order.take(envelope.number, from: envelope.from)
        else { return nil }
        return text
    }
}

/// A message on a node's channel: the mark of its purpose, `NODE SHARD TO NUMBER`, a line end, and a sealed text.
public struct NodeEnvelope: Sendable {
    /// The use of the message.
    public let purpose: NodeSeal.Purpose
    /// The claimed sender.
    public let from: ShardAddress
    /// The shard that receives it.
    public let shard: Int
    /// Its number among all messages of the sender.
    let number: UInt64
    /// The first line, which the seal covers.
    let head: ArraySlice<UInt8>
    /// The part that only nodes can read.
    let sealed: ArraySlice<UInt8>

    private static let headBytesMax = 128

    /// Parses a message; `nil` when it is malformed.
    public init?(_ message: [UInt8]) {
        guard let end = message.prefix(NodeEnvelope.headBytesMax).firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        head = message[..<end]
        sealed = message[(end + 1)...]
        purpose = NodeEnvelope.isFleet(message) ? .fleet : .relay
        let words = head.dropFirst(purpose.mark == nil ? 0 : 1)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4, let from = ShardAddress(node: words[0], shard: words[1]),
            let shard = ASCII.decimal(words[2]), let number = ASCII.decimal(words[3])
        else { return nil }
        self.from = from
        self.shard = shard
        self.number = UInt64(number)
    }

    /// Whether a message is about a question over all nodes; its sender is not verified.
    public static func isFleet(_ message: [UInt8]) -> Bool { message.first == NodeSeal.Purpose.fleet.mark }
}
