import Core

/// An IP address as bytes: 4 of IPv4 or 16 of IPv6.
///
/// An IPv4 address mapped into IPv6 (`::ffff:192.0.2.1`, as a dual-stack socket reports it) becomes IPv4, so that one
/// peer is one address to rules and limits. Zones (`%eth0`) are not accepted.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Network order; 4 or 16.
    public let bytes: [UInt8]

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// Takes the bytes of a socket address; `nil` unless there are 4 or 16.
    public init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = bytes.starts(with: IPAddress.mappedPrefix) ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// Reads dotted decimal (four numbers, no leading zeros) or the text of RFC 4291 section 2.2.
    public init?(text: some Collection<UInt8>) {
        guard let bytes = IPAddress.parse(Array(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// Whether the address is IPv4.
    public var isIPv4: Bool { bytes.count == 4 }

    /// What limits per address count by: the IPv4 address, or the /64 of the IPv6 address with zeros behind it.
    public var limitKey: IPAddress {
        isIPv4 ? self : IPAddress(unchecked: Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8))
    }

    /// The address as text, IPv6 without shortening of zero runs.
    public var description: String {
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The bytes as written, mapped addresses still 16.
    static func parse(_ text: [UInt8]) -> [UInt8]? {
        guard text.count <= 45 else { return nil }
        return text.contains(UInt8(ascii: ":")) ? version6(text) : version4(text[...])
    }

    private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard let number = ASCII.decimal(part), let byte = UInt8(exactly: number) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: [UInt8]) -> [UInt8]? {
        let colon = UInt8(ascii: ":")
        // Split at the one `::` allowed; a second one shows as an empty group below.
        let gap = text.indices.dropLast().first { text[$0] == colon && text[$0 + 1] == colon }
        guard let gap else {
            guard let bytes = groups(text[...], mayEndInVersion4: true), bytes.count == 16 else { return nil }
            return bytes
        }
        let (left, right) = (text[..<gap], text[(gap + 2)...])
        guard let head = left.isEmpty ? [] : groups(left, mayEndInVersion4: false),
            let tail = right.isEmpty ? [] : groups(right, mayEndInVersion4: true),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: ArraySlice<UInt8>, mayEndInVersion4: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, mayEndInVersion4, part.contains(UInt8(ascii: ".")) {
                guard let last = version4(part) else { return nil }
                bytes.append(contentsOf: last)
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for byte in part {
                guard let digit = ASCII.hexValue(byte) else { return nil }
                value = value << 4 | UInt16(digit)
            }
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
            bytes.append(UInt8(truncatingIfNeeded: value))
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
