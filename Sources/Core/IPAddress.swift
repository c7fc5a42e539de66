/// An IP address as bytes: 4 of IPv4 or 16 of IPv6; trust rules match it and limits count by it.
///
/// An IPv4 address mapped into IPv6 (`::ffff:192.0.2.1`, as a dual-stack socket reports it) becomes IPv4. So one peer
/// is one address to rules and limits. Text is read strictly: the further forms of inet_aton(3) (octal, hexadecimal,
/// missing parts) are refused, because two readers that disagree on an address make an allow-list useless.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Network order; 4 or 16.
    public let bytes: [UInt8]

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    /// The longest text, six groups and an IPv4 address: `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
    private static let textBytesMax = 45

    /// Makes the IPv4 address of four numbers.
    public init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        bytes = [first, second, third, fourth]
    }

    /// Takes the bytes of a socket address; `nil` unless there are 4 or 16.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.bytes = Array(bytes)
        case 16: self.bytes = Array(bytes.starts(with: IPAddress.mappedPrefix) ? bytes.suffix(4) : bytes.suffix(16))
        default: return nil
        }
    }

    /// Reads an address of either version.
    public init?(text: some Collection<UInt8>) {
        guard let bytes = IPAddress.parse(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads dotted decimal: four numbers of 0...255 without leading zeros.
    public init?(version4 text: some Collection<UInt8>) {
        guard let bytes = IPAddress.parse(text), bytes.count == 4 else { return nil }
        self.bytes = bytes
    }

    /// Reads any form of RFC 4291 section 2.2, without brackets and without a zone (`%eth0`).
    ///
    /// The address itself is IPv4 when the text is a mapped one.
    public init?(version6 text: some Collection<UInt8>) {
        guard let bytes = IPAddress.parse(text), bytes.count == 16 else { return nil }
        self.init(bytes: bytes)
    }

    /// Whether the address is IPv4.
    public var isIPv4: Bool { bytes.count == 4 }

    /// Whether the address is this machine's own: 127.0.0.0/8 (RFC 1122 section 3.2.1.3) or ::1.
    public var isLoopback: Bool {
        isIPv4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The unit that limits count as one client: the IPv4 address, or the /64 of the IPv6 address followed by zeros.
    public var limitKey: IPAddress {
        isIPv4 ? self : IPAddress(unchecked: Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8))
    }

    /// The address as text; IPv6 in the form of RFC 5952 section 4, such as `2001:db8::1`.
    public var description: String {
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        let gap = IPAddress.longestZeros(groups)
        let hexadecimal = { (part: ArraySlice<UInt16>) in
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard gap.count > 1 else { return hexadecimal(groups[...]) }
        return hexadecimal(groups[..<gap.lowerBound]) + "::" + hexadecimal(groups[gap.upperBound...])
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The first of the longest runs of zeros; empty without any.
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 {
                start = index + 1
            } else if index + 1 - start > longest.count {
                longest = start..<(index + 1)
            }
        }
        return longest
    }

    // MARK: Reading

    /// The bytes as written, mapped addresses still 16.
    static func parse(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count <= textBytesMax else { return nil }
        let text = Array(text)
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
