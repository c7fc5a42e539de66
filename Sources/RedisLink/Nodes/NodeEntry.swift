import Core

/// The entry that a gateway, worker or courier writes about itself in Redis, for the others to read.
public struct NodeEntry: Equatable, Sendable {
    /// The kind of process; the raw value is its word in Redis and in metrics.
    public enum Kind: String, CaseIterable, Sendable {
        /// The process that clients connect to.
        case gateway
        /// The process that recomputes data when keys change.
        case worker
        /// The process that calls outside services.
        case courier
    }

    /// The kind of process.
    public var kind: Kind
    /// The process's random name, as in logs and `CLIENT LIST`.
    public var name: [UInt8]
    /// The version of its source, 1 to 32 of `A-Z a-z 0-9 . + -`.
    public var version: String
    /// The format of its data in Redis, see ``ProductVersion/format``.
    public var format: Int
    /// The offset of its wall clock from Redis's, milliseconds, positive when ahead; `nil` while it is not known.
    public var offsetMs: Int?

    /// Makes an entry of this version.
    public init(_ kind: Kind, name: [UInt8]) {
        (self.kind, self.name) = (kind, name)
        (version, format) = (ProductVersion.text, ProductVersion.format)
    }

    /// Reads ``text``; `nil` for any other text.
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

    /// Reads the entries in a reply of HGETALL that have not ended at `nowMs` of Redis's clock.
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
