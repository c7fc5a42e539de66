import Core
import Rights

/// The ids of sessions that poll: each node can tell that one of the nodes of its Redis has made an id.
///
/// Redis stores the secret behind it, so anyone who may read that key there could act as a node. A client cannot, and
/// neither can a backend that may publish but not read. Pure.
struct RelayKeys {
    private static let randomBytes = 18
    private static let proofBytes = 12

    private let key: [UInt8]

    /// The keys under the secret of all nodes.
    init(secret: [UInt8]) {
        key = Digest.hmacSHA256(key: secret, "session ids".utf8)
    }

    /// `NODE.SHARD.RANDOM`; the last bytes of the random part prove that a node has made it.
    func sessionID(at home: ShardAddress) -> [UInt8] {
        let random = SecureRandom.bytes(RelayKeys.randomBytes)
        let start = home.idStart
        return start + Base64.encode(random + proof(of: start, random), .url)
    }

    /// The shard that an id names; the id's proof is not checked.
    static func home(of id: [UInt8]) -> ShardAddress? { ShardAddress.parts(ofID: id)?.home }

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
        Array(Digest.hmacSHA256(key: key, head + random).prefix(RelayKeys.proofBytes))
    }
}
