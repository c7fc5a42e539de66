import Core

/// A master that Sentinels watch: their addresses, their name for the master, and our credentials at the Sentinels.
public struct SentinelGroup: Equatable, Sendable {
    /// The address at which a Sentinel listens.
    public struct Address: Hashable, Sendable {
        /// A name or an address, without brackets.
        public let host: String
        /// The port, 1...65535.
        public let port: Int

        /// `host:port`, an IPv6 address in brackets; for logs.
        public var text: String {
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The Sentinels that have a vote, each once; at least one.
    public let sentinels: [Address]
    /// The Sentinels' name for the master: 1...64 bytes of the grammar of ``isName(_:)``.
    public let name: [UInt8]
    /// Whether Sentinels and servers are reached by TLS.
    public let tls: Bool
    /// The ACL user at the Sentinels; `nil` is the default user.
    public let user: [UInt8]?
    /// The password at the Sentinels; `nil` when they require none.
    ///
    /// Never log it.
    public let password: [UInt8]?

    /// The most Sentinels of one URL; every process has two connections to each.
    public static let sentinelsMax = 15
    /// The most bytes of a name.
    private static let nameBytesMax = 64

    /// The smallest number of Sentinels that is more than half.
    public var majority: Int { sentinels.count / 2 + 1 }

    /// The URL of a Sentinel, for a link to it.
    func url(of index: Int) -> RedisURL? {
        guard sentinels.indices.contains(index) else { return nil }
        let address = sentinels[index]
        return RedisURL(
            endpoint: .network(host: address.host, port: address.port, tls: tls), user: user, password: password,
            database: 0)
    }

    /// Whether Sentinel accepts the bytes as the name of a master: letters, digits and `.-_`.
    static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.count <= nameBytesMax
            && text.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: "_")
            }
    }
}
