import Core

/// The API keys of backends, and the publishable keys of pages and apps, stored as SHA-256 digests only.
///
/// File format, one key a line: `name:key` or `name:sha256:<64 hex digits>`. Words after it narrow the key, see
/// ``APIKeyWords``. Blank lines and lines that begin with `#` are comments. A name is `[A-Za-z0-9._-]{1,64}` and may
/// occur on several lines, so that a key can be rotated with an overlap. A plain key has 16...256 visible ASCII bytes
/// and does not begin with `sha256:`. The digest form is made with `printf %s "$KEY" | sha256sum`, and only sensible
/// for keys of at least 128 random bits. A plain key of 64 hex digits is refused: it is a digest whose `sha256:` was
/// forgotten, and any reader of the file could present it.
public struct APIKeys: Sendable, CustomStringConvertible {
    private struct Entry: Sendable {
        let holder: APIKeyHolder
        let digest: [UInt8]
        let isPublishable: Bool

        var caller: Caller { isPublishable ? .publishable(holder) : .service(holder) }
    }

    private let entries: [Entry]

    /// The most keys of one file.
    public static let keysMax = 1_024
    /// Bytes of a plain key.
    public static let keyBytes = 16...256
    /// Bytes of one file.
    public static let fileBytesMax = 1_048_576

    /// No keys; nothing matches.
    public init() {
        self.entries = []
    }

    /// Reads a file; throws ``RightsProblem/apiKeys(line:_:)`` with the number of the first wrong line, from 1.
    public init(file: [UInt8]) throws(RightsProblem) {
        guard file.count <= APIKeys.fileBytesMax else { throw .tooLong(bytesMax: APIKeys.fileBytesMax) }
        var entries: [Entry] = []
        var digests: Set<[UInt8]> = []
        let lines = file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let entry = try APIKeys.entry(line, number: index + 1)
            guard digests.insert(entry.digest).inserted else { throw .apiKeys(line: index + 1, "the key occurs twice") }
            guard entries.count < APIKeys.keysMax else { throw .tooManyKeys(max: APIKeys.keysMax) }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// Whether there is no key.
    public var isEmpty: Bool { entries.isEmpty }

    /// The number of keys.
    public var count: Int { entries.count }

    /// The number of keys, as text; never their digests.
    public var description: String { "\(entries.count) API keys" }

    /// The number of services' keys that allow the use; publishable keys do not count.
    public func count(for use: CallerUse) -> Int {
        entries.count { !$0.isPublishable && $0.holder.rights.allow(use) }
    }

    /// Whether the key of this caller is still in the file, with the same rights.
    func has(_ caller: Caller) -> Bool {
        entries.contains { $0.caller == caller }
    }

    /// The holder of a key: a service, or the holder of a publishable key; `nil` for an unknown key.
    ///
    /// Takes the same time whichever entry matches, first, last or none. The digest is compared with every entry, each
    /// in constant time, and the match is recorded without a branch.
    public func match(_ presented: [UInt8]) -> Caller? {
        guard presented.count <= APIKeys.keyBytes.upperBound else { return nil }
        let digest = OpenSSLHash.sha256(presented[...])
        var found = 0
        for (index, entry) in entries.enumerated() {
            // All ones when equal, zero otherwise: the difference is 0...255, so minus one borrows for 0 only.
            let mask = (Int(OpenSSLHash.difference(entry.digest, digest)) &- 1) >> 63
            found |= (index &+ 1) & mask
        }
        return found == 0 ? nil : entries[found - 1].caller
    }

    private static func entry(_ line: ArraySlice<UInt8>, number: Int) throws(RightsProblem) -> Entry {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw .apiKeys(line: number, "expected name:key or name:sha256:<64 hex digits>")
        }
        let name = line[..<colon]
        let isName = name.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == 0x2e || $0 == UInt8(ascii: "_")
        }
        guard isName, (1...64).contains(name.count) else {
            throw .apiKeys(line: number, "a name is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        let (key, words) = try words(of: line[(colon + 1)...], number: number)
        let digest = try digest(key, number: number)
        let rights: APIKeyRights = if case .service(let rights) = words { rights } else { [] }
        let holder = APIKeyHolder(name: String(decoding: name, as: UTF8.self), digest: digest, rights: rights)
        return Entry(holder: holder, digest: digest, isPublishable: words == .publishable)
    }

    /// Separates a key from the words after it; a key without words keeps every right.
    private static func words(
        of text: ArraySlice<UInt8>, number: Int
    ) throws(RightsProblem) -> (key: ArraySlice<UInt8>, words: APIKeyWords) {
        let body = text.starts(with: mark) ? text.dropFirst(mark.count) : text
        guard let colon = body.lastIndex(of: UInt8(ascii: ":")), APIKeyWords.areMeant(by: text[(colon + 1)...]) else {
            return (text, .service(.everything))
        }
        do throws(APIKeyWords.Problem) {
            return (text[..<colon], try APIKeyWords(text[(colon + 1)...]))
        } catch {
            throw .apiKeys(line: number, error.text)
        }
    }

    private static let mark = Array("sha256:".utf8)

    private static func digest(_ key: ArraySlice<UInt8>, number: Int) throws(RightsProblem) -> [UInt8] {
        if key.starts(with: mark) {
            guard let given = hex(key.dropFirst(mark.count)) else {
                throw .apiKeys(line: number, "sha256: needs 64 hex digits")
            }
            return given
        }
        guard keyBytes.contains(key.count) else {
            throw .apiKeys(
                line: number, "a key has \(keyBytes.lowerBound) to \(keyBytes.upperBound) bytes")
        }
        guard key.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .apiKeys(line: number, "a key has visible ASCII characters only, no spaces")
        }
        guard hex(key) == nil else {
            throw .apiKeys(
                line: number,
                "64 hex digits are the digest of a key: write name:sha256:<64 hex digits>; a plain key must not look so"
            )
        }
        return OpenSSLHash.sha256(key)
    }

    private static func hex(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text {
            guard let digit = ASCII.hexValue(byte) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
