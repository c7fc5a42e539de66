/// A range of addresses, `address/prefix` (RFC 4632 section 3.1, RFC 4291 section 2.3).
public struct CIDR: Hashable, Sendable, CustomStringConvertible {
    /// The fault in the text of a range.
    public enum Fault: Error, Equatable, Sendable {
        /// It is not an address, alone or with a slash and a number.
        case form
        /// The prefix is no number from 0 to the bits of the address.
        case prefix(max: Int)
        /// The range begins at a mapped IPv4 address but is wider than all of IPv4.
        case mappedPrefix
        /// Bits after the prefix are set: a slip, or a range that means another one.
        case bitsBehindPrefix(Int)
    }

    /// The first address of the range.
    public let address: IPAddress
    /// How many leading bits all addresses of the range share: 0...32 or 0...128.
    public let prefixLength: Int

    /// Reads `10.0.0.0/8`, `2001:db8::/32`, or a single address.
    ///
    /// A range of mapped addresses (`::ffff:10.0.0.0/104`) becomes the IPv4 range.
    public init(_ text: some Collection<UInt8>) throws(Fault) {
        let parts = text.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let written = IPAddress.parse(parts[0]),
            let address = IPAddress(bytes: written)
        else { throw .form }
        var length = written.count * 8
        if parts.count == 2 {
            guard let given = ASCII.decimal(parts[1]), given <= length else { throw .prefix(max: length) }
            length = given
        }
        let folded = (written.count - address.bytes.count) * 8
        guard length >= folded else { throw .mappedPrefix }
        self.address = address
        prefixLength = length - folded
        for (index, byte) in address.bytes.enumerated() where byte & ~CIDR.mask(byte: index, prefixLength) != 0 {
            throw .bitsBehindPrefix(length)
        }
    }

    /// Whether the address is in the range.
    ///
    /// IPv4 ranges contain IPv4 addresses only, IPv6 ranges IPv6 only.
    public func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count
            && zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
                (pair.0 ^ pair.1) & CIDR.mask(byte: index, prefixLength) == 0
            }
    }

    /// The range as text.
    public var description: String { "\(address)/\(prefixLength)" }

    /// Ones for the bits of a byte that belong to a prefix.
    private static func mask(byte index: Int, _ bits: Int) -> UInt8 {
        let kept = max(0, min(8, bits - index * 8))
        return UInt8(truncatingIfNeeded: 0xff00 >> kept)
    }
}
