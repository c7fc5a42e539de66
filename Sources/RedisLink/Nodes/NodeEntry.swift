import Core

/// Entry that a gateway, worker or courier writes about itself in Redis, for the others to read.
public struct NodeEntry: Equatable, Sendable {
    /// Kind of process; the raw value is its word in Redis and in metrics.
    public enum Kind: String, CaseIterable, Sendable {
        /// Clients connect to it.
        case gateway
        /// Recomputes what follows from changed keys.
        case worker
        /// Calls services outside.
        case courier
    }

    /// Kind of process.
    public var kind: Kind
    /// Its random name, as logs and `CLIENT LIST` have it.
    public var name: [UInt8]
    /// The version of its source, 1 to 32 of `A-Z a-z 0-9 . + -`.
    public var version: String
    /// The format of what it keeps in Redis, see ``ProductVersion/format``.
    public var format: Int
    /// How far its wall clock is ahead of Redis's, milliseconds; `nil` while it does not know.
    public var offsetMs: Int?

    /// An entry of this version.
    public init(_ kind: Kind, name: [UInt8]) {
        (self.kind, self.name) = (kind, name)
        (version, format) = (ProductVersion.text, ProductVersion.format)
    }

    /// Reads ``text``; `nil` for another one.
    public init?(name: [UInt8], _ text: some Collection<UInt8>) {
        let words = text.split(separator: UInt8(ascii: " "))
        guard words.count == 4, let kind = Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
            (1...32).contains(words[1].count),
            words[1].allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || NodeEntry.marks.contains($0) }),
            words[2].count <= 9, let format = ASCII.decimal(words[2])
        else { return nil }
        (self.kind, self.name, self.format) = (kind, name, format)
        version = String(decoding: words[1], as: UTF8.self)
        let digits = words[3].first == UInt8(ascii: "-") ? words[3].dropFirst() : words[3][...]
        offsetMs = digits.count > 15 ? nil : ASCII.decimal(digits).map { words[3].count > digits.count ? -$0 : $0 }
    }

    private static let marks = Array(".+-".utf8)

    /// Kind, version, format and offset; `-` for an offset that is not known.
    public var text: [UInt8] {
        Array("\(kind.rawValue) \(version) \(format) \(offsetMs.map { "\($0)" } ?? "-")".utf8)
    }

    /// Reads the entries of the hash as HGETALL tells it, of those that have not ended at `nowMs` of Redis's clock.
    static func live(_ hash: RESPValue, nowMs: Int) -> [NodeEntry] {
        let words = hash.elements ?? []
        return stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
            guard let name = words[index].bytes, let value = words[index + 1].bytes,
                let space = value.firstIndex(of: UInt8(ascii: " ")), let ends = ASCII.decimal(value[..<space]),
                ends > nowMs
            else { return nil }
            return NodeEntry(name: name, value[(space + 1)...])
        }
    }
}
