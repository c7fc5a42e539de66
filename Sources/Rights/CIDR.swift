import Core

/// A range of addresses, `address/prefix` (RFC 4632, RFC 4291 section 2.3): which peers are trusted proxies.
public struct CIDR: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the range.
    public let address: IPAddress
    /// How many leading bits all addresses of the range share: 0...32 or 0...128.
    public let prefixLength: Int

    /// Reads `10.0.0.0/8`, `2001:db8::/32`, or a single address.
    ///
    /// A range of mapped addresses (`::ffff:10.0.0.0/104`) becomes the IPv4 range. Bits set behind the prefix are
    /// refused: they are a slip.
    public init(_ text: String) throws(RightsProblem) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let written = IPAddress.parse(Array(parts[0])),
            let address = IPAddress(bytes: written)
        else { throw .cidr("expected address/prefix such as 10.0.0.0/8 or fd00::/8") }
        var length = written.count * 8
        if parts.count == 2 {
            guard let given = ASCII.decimal(parts[1]), given <= length else {
                throw .cidr("the prefix must be 0...\(length)")
            }
            length = given
        }
        if address.bytes.count < written.count {
            guard length >= 96 else { throw .cidr("a range of mapped IPv4 addresses needs a prefix of at least 96") }
            length -= 96
        }
        self.address = address
        self.prefixLength = length
        guard CIDR.agree(address.bytes, CIDR.masked(address.bytes, length), bits: address.bytes.count * 8) else {
            throw .cidr("bits are set behind the prefix")
        }
    }

    /// Whether the address lies in the range.
    ///
    /// IPv4 ranges hold IPv4 addresses only, IPv6 ranges IPv6 only.
    public func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count && CIDR.agree(address.bytes, other.bytes, bits: prefixLength)
    }

    /// The range as text.
    public var description: String { "\(address)/\(prefixLength)" }

    private static func agree(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
        zip(left, right).enumerated().allSatisfy { index, pair in
            (pair.0 ^ pair.1) & mask(byte: index, bits) == 0
        }
    }

    private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { $1 & mask(byte: $0, bits) }
    }

    /// Ones for the bits of a byte that belong to a prefix.
    private static func mask(byte index: Int, _ bits: Int) -> UInt8 {
        let kept = max(0, min(8, bits - index * 8))
        return UInt8(truncatingIfNeeded: 0xff00 >> kept)
    }
}
