import Core
import Rights

/// The form of messages on the nodes' channels: `?NODE SHARD TO NUMBER`, a line end, and a sealed ``FleetMessage``.
///
/// Each shard of each node seals under a key of its own, derived from the secret that all nodes share, and counts. So a
/// client of Redis that may only publish can neither ask nor answer. Pure.
public struct FleetSeal {
    /// The place of a shard among all nodes.
    struct Place: Hashable {
        let node: [UInt8]
        let shard: Int
    }

    /// The first byte of each message.
    public static let mark = UInt8(ascii: "?")
    private static let headBytesMax = 128
    private static let nodeBytesMax = 32
    private static let shardsMax = 1_024

    private let secret: [UInt8]
    private let own: Place
    private let seal: Seal

    /// The seal of the shard at `own`; `secret` has 32 bytes.
    init(secret: [UInt8], own: Place) {
        self.secret = secret
        self.own = own
        seal = FleetSeal.seal(secret, of: own)
    }

    private static func seal(_ secret: [UInt8], of place: Place) -> Seal {
        var text = Array("fleet questions of ".utf8) + place.node
        text.append(UInt8(ascii: "."))
        text.append(decimal: place.shard)
        return Seal(key: Digest.hmacSHA256(key: secret, text))
    }

    /// The message to publish for a shard of a node; `number` is used once.
    func close(_ message: FleetMessage, to place: Place, number: Int) -> [UInt8] {
        var text = [FleetSeal.mark] + own.node
        for value in [own.shard, place.shard, number] {
            text.append(UInt8(ascii: " "))
            text.append(decimal: value)
        }
        let sealed = seal.seal(message.text, number: UInt64(number), head: text + place.node)
        text.append(UInt8(ascii: "\n"))
        return text + sealed
    }

    /// The sender and the text of a message; `nil` unless a node has sealed it for this shard.
    func open(_ message: [UInt8]) -> (from: Place, text: [UInt8])? {
        guard let head = FleetSeal.head(message), head.to == own.shard, head.from != own else { return nil }
        let seal = FleetSeal.seal(secret, of: head.from)
        return seal.open(message[(head.end + 1)...], number: UInt64(head.number), head: message[..<head.end] + own.node)
            .map { (head.from, $0) }
    }

    /// The shard that a message is for; `nil` when it is malformed.
    public static func shard(of message: [UInt8]) -> Int? { head(message)?.to }

    private static func head(_ message: [UInt8]) -> (from: Place, to: Int, number: Int, end: Int)? {
        guard message.first == mark, message.count <= 3 * FleetAnswer.bytesMax,
            let end = message.prefix(headBytesMax).firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = message[1..<end].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4, (1...nodeBytesMax).contains(words[0].count),
            let shard = ASCII.decimal(words[1]), let to = ASCII.decimal(words[2]), let number = ASCII.decimal(words[3]),
            shard < shardsMax, to < shardsMax
        else { return nil }
        return (Place(node: Array(words[0]), shard: shard), to, number, end)
    }
}
