import Core

/// Reads IP addresses in text into network bytes.
///
/// Strict: what the C library's `inet_aton` also takes (octal, hexadecimal, missing parts) is refused, because two
/// readers that disagree on an address make an allow-list useless.
public enum IPAddress {
    /// The four bytes of a dotted address; `nil` on anything but four decimal numbers of 0...255 without leading zeros.
    public static func ipv4(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        guard text.count <= 15 else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard let number = ASCII.decimal(part), let byte = UInt8(exactly: number) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// The sixteen bytes of an IPv6 address in any form of RFC 4291 section 2.2; `nil` for anything else, zone
    /// identifiers included.
    public static func ipv6(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        guard text.count >= 2, text.count <= 45 else { return nil }
        var bytes = Array(text)
        if let dotted = dottedTail(bytes) {
            // The last 32 bits may be written as IPv4; two plain groups take their place.
            guard let tail = ipv4(bytes[dotted...]) else { return nil }
            let groups = [UInt16(tail[0]) << 8 | UInt16(tail[1]), UInt16(tail[2]) << 8 | UInt16(tail[3])]
            bytes = bytes[..<dotted] + Array((hexadecimal(groups[0]) + ":" + hexadecimal(groups[1])).utf8)
        }
        guard let gap = doubleColon(bytes) else {
            guard let groups = groups(bytes[...]), groups.count == 8 else { return nil }
            return flat(groups)
        }
        let after = bytes[(gap + 2)...]
        guard doubleColon(Array(bytes[(gap + 1)...])) == nil, let head = groups(bytes[..<gap]),
            let tail = groups(after), head.count + tail.count <= 7
        else { return nil }
        return flat(head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    /// An address in one form: an IPv4 address mapped into IPv6 (`::ffff:a.b.c.d`) becomes its four bytes.
    public static func canonical(_ address: [UInt8]) -> [UInt8] {
        guard address.count == 16, address.starts(with: mappedPrefix) else { return address }
        return Array(address[12...])
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// Where the group with dots begins; `nil` without dots.
    private static func dottedTail(_ bytes: [UInt8]) -> Int? {
        guard bytes.contains(UInt8(ascii: ".")), let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        return colon + 1
    }

    private static func doubleColon(_ bytes: [UInt8]) -> Int? {
        bytes.indices.dropLast().first { bytes[$0] == UInt8(ascii: ":") && bytes[$0 + 1] == UInt8(ascii: ":") }
    }

    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        if text.isEmpty { return [] }
        var result: [UInt16] = []
        for part in text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for byte in part {
                guard let digit = ASCII.hexValue(byte) else { return nil }
                value = value << 4 | UInt16(digit)
            }
            result.append(value)
        }
        return result
    }

    private static func flat(_ groups: [UInt16]) -> [UInt8] {
        groups.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func hexadecimal(_ value: UInt16) -> String { String(value, radix: 16) }
}
