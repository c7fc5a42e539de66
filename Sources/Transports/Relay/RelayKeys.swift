import Core
import Dialects
import Rights

/// The address of a shard for other nodes.
public struct ShardAddress: Hashable, Sendable {
    /// The node's name.
    let node: [UInt8]
    /// The shard's number on that node.
    let shard: Int

    /// The number of shards that an address can name.
    static let shardsMax = 1_024
    /// Bytes of a node's name.
    static let nodeBytesMax = 32

    /// The shard of that number, from 0, on a node; the name has at most 32 bytes.
    public init(node: [UInt8], shard: Int) {
        self.node = node
        self.shard = shard
    }

    /// Parses a node's name and a shard's number; `nil` when they are malformed.
    init?(node: ArraySlice<UInt8>, shard: ArraySlice<UInt8>) {
        guard (1...ShardAddress.nodeBytesMax).contains(node.count), node.allSatisfy(ShardAddress.isNameByte),
            let number = ASCII.decimal(shard), number < ShardAddress.shardsMax
        else { return nil }
        self.init(node: Array(node), shard: number)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}

/// A message on a node's channel: `NODE SHARD TO NUMBER\n` and a sealed ``RelayMessage``.
public struct RelayEnvelope: Sendable {
    /// The claimed sender.
    let from: ShardAddress
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
        guard let end = message.prefix(RelayEnvelope.headBytesMax).firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        head = message[..<end]
        sealed = message[(end + 1)...]
        let words = head.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4, let from = ShardAddress(node: words[0], shard: words[1]),
            let shard = ASCII.decimal(words[2]), let number = ASCII.decimal(words[3])
        else { return nil }
        self.from = from
        self.shard = shard
        self.number = UInt64(number)
    }
}

/// The keys that the nodes of one Redis share: they make unforgeable session ids, and seal messages between nodes.
///
/// Redis stores the secret, so anyone who may read that key there could act as a node. A client cannot, and neither can
/// a backend that may publish but not read. Each shard of each node seals under a key of its own and counts, so no
/// number occurs twice. Pure.
struct RelayKeys {
    /// Bytes of the secret.
    static let secretBytes = 32
    private static let randomBytes = 18
    private static let proofBytes = 12

    /// The secret of all nodes.
    let secret: [UInt8]
    private let ids: [UInt8]
    private let own: Seal

    /// The keys of a shard; `nil` when the secret has the wrong length.
    init?(secret: [UInt8], of home: ShardAddress) {
        guard secret.count == RelayKeys.secretBytes else { return nil }
        self.secret = secret
        ids = Digest.hmacSHA256(key: secret, "session ids".utf8)
        own = RelayKeys.seal(secret, of: home)
    }

    private static func seal(_ secret: [UInt8], of home: ShardAddress) -> Seal {
        var text = Array("hops of ".utf8) + home.node
        text.append(UInt8(ascii: "."))
        text.append(decimal: home.shard)
        return Seal(key: Digest.hmacSHA256(key: secret, text))
    }

    // MARK: Ids of sessions

    /// `NODE.SHARD.RANDOM`; the last bytes of the random part prove that a node has made it.
    func sessionID(at home: ShardAddress) -> [UInt8] {
        let random = SecureRandom.bytes(RelayKeys.randomBytes)
        var id = home.node
        id.append(UInt8(ascii: "."))
        id.append(decimal: home.shard)
        id.append(UInt8(ascii: "."))
        let proof = proof(of: id, random)
        id.append(contentsOf: Base64.encode(random + proof, .url))
        return id
    }

    /// The shard that an id names; the id's proof is not checked.
    static func home(of id: [UInt8]) -> ShardAddress? {
        let parts = id.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return ShardAddress(node: parts[0], shard: parts[1])
    }

    /// Whether a node has made this id.
    func isGenuine(_ id: [UInt8]) -> Bool {
        guard let dot = id.lastIndex(of: UInt8(ascii: ".")),
            let bytes = Base64.decode(id[(dot + 1)...], .url),
            bytes.count == RelayKeys.randomBytes + RelayKeys.proofBytes
        else { return false }
        let (random, shown) = (Array(bytes.prefix(RelayKeys.randomBytes)), Array(bytes.suffix(RelayKeys.proofBytes)))
        return Digest.equalInConstantTime(shown, proof(of: Array(id[...dot]), random))
    }

    private func proof(of head: [UInt8], _ random: [UInt8]) -> [UInt8] {
        Array(Digest.hmacSHA256(key: ids, head + random).prefix(RelayKeys.proofBytes))
    }

    // MARK: Messages

    /// The message to publish for another node; `number` is used once.
    func envelope(_ poll: RelayMessage, from: ShardAddress, to home: ShardAddress, number: UInt64) -> [UInt8] {
        var message = from.node
        for value in [from.shard, home.shard, Int(number)] {
            message.append(UInt8(ascii: " "))
            message.append(decimal: value)
        }
        let sealed = own.seal(poll.bytes, number: number, head: message + home.node)
        message.append(UInt8(ascii: "\n"))
        message.append(contentsOf: sealed)
        return message
    }

    /// The content of another node's message; `nil` unless that node has sealed it for this one.
    func open(_ envelope: RelayEnvelope, at home: ShardAddress) -> RelayMessage? {
        guard envelope.shard == home.shard, envelope.from.node != home.node else { return nil }
        let seal = RelayKeys.seal(secret, of: envelope.from)
        return seal.open(envelope.sealed, number: envelope.number, head: Array(envelope.head) + home.node)
            .flatMap(RelayMessage.init(parsing:))
    }
}
