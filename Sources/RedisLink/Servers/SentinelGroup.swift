import Core

/// A master that Sentinels watch: where they are, how they call it, and how to introduce oneself to them.
public struct SentinelGroup: Equatable, Sendable {
    /// Where a Sentinel listens.
    public struct Address: Hashable, Sendable {
        /// A name or an address without brackets.
        public let host: String
        /// 1...65535.
        public let port: Int

        /// `host:port`, an IPv6 address in brackets; for logs.
        public var text: String {
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The Sentinels that have a vote, each once; at least one.
    public let sentinels: [Address]
    /// What they call the master; 1...64 bytes of the grammar of ``isName(_:)``.
    public let name: [UInt8]
    /// Whether Sentinels and servers are spoken to by TLS.
    public let tls: Bool
    /// The ACL user at the Sentinels; `nil` is the default user.
    public let user: [UInt8]?
    /// The password at the Sentinels; `nil` when they want none.
    ///
    /// Never log it.
    public let password: [UInt8]?

    /// The most Sentinels of one URL: each has two connections of every process.
    public static let sentinelsMax = 15
    /// The most bytes of a name.
    private static let nameBytesMax = 64

    /// The fewest Sentinels that are more than half.
    public var majority: Int { sentinels.count / 2 + 1 }

    /// Where a Sentinel is, for a link to it.
    func url(of index: Int) -> RedisURL? {
        guard sentinels.indices.contains(index) else { return nil }
        let address = sentinels[index]
        return RedisURL(
            endpoint: .network(host: address.host, port: address.port, tls: tls), user: user, password: password,
            database: 0)
    }

    /// Whether Sentinel takes the bytes as the name of a master: letters, digits and `.-_`.
    static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.count <= nameBytesMax
            && text.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            }
    }
}
