import Core
import Rights

/// A value that the gateway makes for a call: `@derive cell = geohash(latitude, longitude, 6)`,
/// `@derive groupId = uuid()`, or `@derive network = address()`.
public struct DerivedValue: Equatable, Sendable {
    /// The function that makes the value, with its arguments.
    enum Source: Equatable, Sendable {
        /// The name of the cell of a place: two arguments in degrees, and the length of the name in characters.
        case geohash(latitude: String, longitude: String, length: Int)
        /// A prefix and a new UUID.
        case uuid(prefix: String)
        /// The address of a caller without a token, as limits count it; ``unknownAddress`` for every other caller.
        case address
    }

    /// The value's name in templates and in the body.
    public let name: String
    let source: Source

    /// Whether it is a new UUID.
    var isUUID: Bool {
        if case .uuid = source { true } else { false }
    }

    /// The value for a caller with a token, for a backend, and for an address shared by many callers.
    static let unknownAddress = Array("none".utf8)

    private static let functions = ["geohash", "uuid", "address"]
    private static let example = "cell = geohash(latitude, longitude, 6) or groupId = uuid()"
    /// The most characters of a UUID's prefix.
    private static let prefixMax = 32

    /// Reads `NAME = geohash(LATITUDE, LONGITUDE, LENGTH)`, `NAME = uuid([PREFIX])` or `NAME = address()`.
    init(header text: String) throws(HeaderFault) {
        let expected = "expected " + DerivedValue.example
        guard let (before, after) = HeaderText.cut(text, at: "=") else { throw HeaderFault(expected) }
        name = HeaderText.trimmed(before)
        guard HeaderText.isName(name, capitals: true), !HeaderText.luaWords.contains(name), name != "id" else {
            throw HeaderFault("a derived value's name is a lower-case letter, then A-Z a-z 0-9, no word of Lua, not id")
        }
        let call = HeaderText.trimmed(after)
        guard let (function, rest) = HeaderText.cut(call, at: "("), rest.hasSuffix(")") else {
            throw HeaderFault(expected)
        }
        switch function {
        case "geohash": source = try DerivedValue.geohash(HeaderText.list(rest.dropLast()))
        case "uuid": source = try DerivedValue.uuid(HeaderText.trimmed(rest.dropLast()))
        case "address" where rest == ")": source = .address
        case "address": throw HeaderFault("address() takes nothing: it is that of the caller")
        default:
            throw HeaderFault(
                PrintableText.quoted(function) + " derives nothing; there are geohash, uuid and address"
                    + NearestName.hint(DerivedValue.functions, to: function))
        }
    }

    private static func geohash(_ words: [String]) throws(HeaderFault) -> Source {
        guard words.count == 3, let length = ASCII.decimal(Array(words[2].utf8)), Geohash.lengths.contains(length)
        else {
            throw HeaderFault(
                "expected two arguments and a length from \(Geohash.lengths.lowerBound) to "
                    + "\(Geohash.lengths.upperBound), e.g. cell = geohash(latitude, longitude, 6)")
        }
        return .geohash(latitude: words[0], longitude: words[1], length: length)
    }

    private static func uuid(_ prefix: String) throws(HeaderFault) -> Source {
        guard prefix.isEmpty || prefix.utf8.count <= prefixMax && Topic.isID(Array(prefix.utf8)) else {
            throw HeaderFault("a UUID's prefix is at most \(prefixMax) of A-Z a-z 0-9 . _ ~ : -, e.g. uuid(guest:)")
        }
        return .uuid(prefix: prefix)
    }

    /// The value for the arguments as they stand in `ARGV`; throws when they are not a place on the earth.
    ///
    /// `address` is the address of a caller without other credentials; `nil` when there is none.
    func value(_ argument: (String) -> [UInt8]?, address: IPAddress?) throws(Refusal) -> [UInt8] {
        switch source {
        case .address: return address.map { Array($0.description.utf8) } ?? DerivedValue.unknownAddress
        case .uuid(let prefix): return Array(prefix.utf8) + DerivedValue.uuid(SecureRandom.bytes(16))
        case .geohash(let latitude, let longitude, let length):
            func degrees(_ name: String) -> Double? {
                argument(name).flatMap { Double(String(decoding: $0, as: UTF8.self)) }
            }
            guard let north = degrees(latitude), let east = degrees(longitude),
                let text = Geohash.text(latitude: north, longitude: east, length: length)
            else { throw Refusal(.badRequest, "'\(latitude)' and '\(longitude)' are no place") }
            return text
        }
    }

    /// The text of a version 4 UUID (RFC 9562 section 5.4) in lower case, from its 16 `random` bytes.
    static func uuid(_ random: [UInt8]) -> [UInt8] {
        var bytes = random
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text: [UInt8] = []
        for (place, digit) in Hexadecimal.text(bytes).enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return text
    }
}
