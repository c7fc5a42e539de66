internal import Core

/// The PROXY protocol header a trusted balancer sends before everything else (haproxy's proxy-protocol.txt, 1 and 2).
///
/// Pure and incremental: it takes bytes until the header is complete and never one beyond it, so that TLS or HTTP
/// starts exactly where it must.
struct ProxyHeader {
    enum Step: Equatable {
        /// All offered bytes belong to the header, which is incomplete.
        case more
        /// The header is complete and took that many of the offered bytes; `nil` keeps the socket's own address.
        case done(consumed: Int, source: IPAddress?)
        /// Not a PROXY header.
        case malformed
    }

    private var bytes: [UInt8] = []

    private static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
    /// The longest line of version 1, line end included (section 2.1).
    private static let lineMax = 107
    /// The longest header of version 2 that is accepted: addresses and a reasonable set of TLVs.
    private static let binaryMax = 16 + 512

    /// Whether a connection's first bytes begin such a header; `false` while there are too few of them to decide.
    static func begins(_ bytes: Span<UInt8>) -> Bool {
        let start = Array("PROXY ".utf8)
        return [start, signature].contains { mark in
            bytes.count >= mark.count && mark.indices.allSatisfy { bytes[$0] == mark[$0] }
        }
    }

    mutating func feed(_ offered: Span<UInt8>) -> Step {
        for index in 0..<offered.count {
            bytes.append(offered[index])
            switch step() {
            case .more: continue
            case .done(_, let source): return .done(consumed: index + 1, source: source)
            case .malformed: return .malformed
            }
        }
        return .more
    }

    private func step() -> Step {
        if bytes.count <= 12 {
            let binary = ProxyHeader.signature.starts(with: bytes)
            let text = Array("PROXY ".utf8).starts(with: bytes.prefix(6))
            return binary || text ? (text && bytes.last == 0x0a ? .malformed : .more) : .malformed
        }
        return bytes.starts(with: ProxyHeader.signature) ? binaryStep() : textStep()
    }

    private func textStep() -> Step {
        guard bytes.last == 0x0a else { return bytes.count < ProxyHeader.lineMax ? .more : .malformed }
        guard bytes.count >= 15, bytes[bytes.count - 2] == 0x0d else { return .malformed }
        let fields = bytes.dropLast(2).split(separator: 0x20, omittingEmptySubsequences: false)
        guard fields.count >= 2 else { return .malformed }
        if fields[1].elementsEqual("UNKNOWN".utf8) { return .done(consumed: 0, source: nil) }
        let isFour = fields[1].elementsEqual("TCP4".utf8)
        guard fields.count == 6, isFour || fields[1].elementsEqual("TCP6".utf8),
            let source = ProxyHeader.address(fields[2], isFour), ProxyHeader.address(fields[3], isFour) != nil,
            fields[4...5].allSatisfy({ ProxyHeader.isPort($0) })
        else { return .malformed }
        return .done(consumed: 0, source: source)
    }

    private static func address(_ text: ArraySlice<UInt8>, _ isFour: Bool) -> IPAddress? {
        isFour ? IPAddress(version4: text) : IPAddress(version6: text)
    }

    private static func isPort(_ digits: ArraySlice<UInt8>) -> Bool {
        guard (1...5).contains(digits.count), digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    private func binaryStep() -> Step {
        guard bytes[12] == 0x20 || bytes[12] == 0x21 else { return .malformed }
        guard bytes.count >= 16 else { return .more }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        guard 16 + length <= ProxyHeader.binaryMax else { return .malformed }
        guard bytes.count == 16 + length else { return .more }
        // LOCAL: the balancer's own health check; the connection is its own.
        if bytes[12] == 0x20 { return .done(consumed: 0, source: nil) }
        switch bytes[13] {
        case 0x11 where length >= 12: return .done(consumed: 0, source: IPAddress(bytes: bytes[16..<20]))
        case 0x21 where length >= 36: return .done(consumed: 0, source: IPAddress(bytes: bytes[16..<32]))
        case 0x00: return .done(consumed: 0, source: nil)
        default: return .malformed
        }
    }
}

/// Detects a PROXY header where none is expected.
public enum StrayProxyHeader {
    /// Whether a connection's first bytes begin with a PROXY header.
    public static func begins(_ bytes: Span<UInt8>) -> Bool { ProxyHeader.begins(bytes) }
}
