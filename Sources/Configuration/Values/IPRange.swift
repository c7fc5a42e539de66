import Core

/// A range of IP addresses in CIDR form (RFC 4632 section 3.1), such as `10.0.0.0/8` or `2001:db8::/32`.
public struct IPRange: Hashable, Sendable {
    /// The first address, 4 or 16 bytes in network order.
    public let address: [UInt8]
    /// How many leading bits all addresses of the range share.
    public let prefixBits: Int

    /// Reads a range, or a single address; bits beyond the prefix must be zero, so that a range says what it means.
    public init(parsing text: String) throws(ValueFault) {
        let form = ValueFault(expected: "an address range, e.g. 10.0.0.0/8 or 2001:db8::/32, or one address")
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let written = parts.first else { throw form }
        guard let address = IPAddress.ipv4(written) ?? IPAddress.ipv6(written) else { throw form }
        var bits = address.count * 8
        if parts.count == 2 {
            guard let number = ASCII.decimal(parts[1]), number <= bits else {
                throw ValueFault(expected: "a prefix length from 0 to \(bits) after the slash")
            }
            bits = number
        }
        guard address == IPRange.masked(address, bits: bits) else {
            throw ValueFault(expected: "an address range whose bits after the first \(bits) are zero")
        }
        self.address = address
        self.prefixBits = bits
    }

    /// Whether an address (4 or 16 bytes in network order) lies in the range; an IPv4 address mapped into IPv6 counts
    /// as IPv4.
    ///
    /// False for any other count of bytes.
    public func contains(_ candidate: [UInt8]) -> Bool {
        if candidate.count == address.count && IPRange.masked(candidate, bits: prefixBits) == address { return true }
        let plain = IPAddress.canonical(candidate)
        return plain.count == address.count && IPRange.masked(plain, bits: prefixBits) == address
    }

    private static func masked(_ address: [UInt8], bits: Int) -> [UInt8] {
        address.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return kept == 8 ? byte : byte & ~(UInt8.max >> UInt8(truncatingIfNeeded: kept))
        }
    }
}
