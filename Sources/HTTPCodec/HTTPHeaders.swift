import Core

/// The result of a lookup that expects at most one value; nothing is guessed when there are two.
public enum HTTPValue: Equatable, Sendable {
    /// There is none.
    case absent
    /// There is exactly one; its bytes, which may be empty.
    case one([UInt8])
    /// There is more than one: refuse the request, since another party may have used the other one.
    case repeated
    /// A query item whose percent escapes are wrong; never for a header.
    case malformed
}

/// The header fields of one request, in order, as bytes.
///
/// All fields share the one buffer of the head, names in lower case. Lookups compare without case and are linear in
/// the number of fields, which ``HTTPLimits/headersMax`` bounds.
public struct HTTPHeaders: Sendable, Equatable {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// The name in lower case; a token.
        public let name: ArraySlice<UInt8>
        /// The value without blanks around it: no control byte but HTAB; bytes from 0x80 up are possible.
        public let value: ArraySlice<UInt8>
    }

    struct Place: Sendable, Equatable {
        var name: Range<Int>
        var value: Range<Int>
    }

    private let bytes: [UInt8]
    private let places: [Place]

    init(bytes: [UInt8], places: [Place]) {
        self.bytes = bytes
        self.places = places
    }

    /// Whether the fields are the same, in their order; the buffers may differ in bytes that belong to none.
    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool { left.fields == right.fields }

    /// The number of fields.
    public var count: Int { places.count }

    /// Every field in the order received.
    public var fields: [Field] {
        places.map { Field(name: bytes[$0.name], value: bytes[$0.value]) }
    }

    /// The values of every field of a name, in order; the name is compared without case.
    public func values(of name: String) -> [[UInt8]] {
        slices(of: name).map(Array.init)
    }

    /// The value of a field that may occur only once.
    public func single(_ name: String) -> HTTPValue {
        var found: Range<Int>?
        for place in places where isName(place.name, name.utf8) {
            guard found == nil else { return .repeated }
            found = place.value
        }
        return found.map { .one(Array(bytes[$0])) } ?? .absent
    }

    /// The elements of a comma-separated list over all fields of a name, without blanks and empty elements
    /// (RFC 9110 section 5.6.1).
    ///
    /// Not for lists whose elements contain quoted strings, such as `Sec-WebSocket-Extensions`.
    public func tokens(of name: String) -> [[UInt8]] {
        slices(of: name).flatMap { value in
            value.split(separator: UInt8(ascii: ","))
                .map { Array(HTTPGrammar.trimmed($0)) }
                .filter { !$0.isEmpty }
        }
    }

    /// Whether a comma-separated list has an element, compared without case.
    public func hasToken(_ token: String, in name: String) -> Bool {
        // Called for every head, so nothing is copied.
        for place in places where isName(place.name, name.utf8) {
            var rest = bytes[place.value]
            while !rest.isEmpty {
                let element = rest.prefix { $0 != UInt8(ascii: ",") }
                if ASCII.equalIgnoringCase(HTTPGrammar.trimmed(element), token.utf8) { return true }
                rest = rest[element.endIndex...].dropFirst()
            }
        }
        return false
    }

    /// The value of the first field of a name.
    func first(_ name: String) -> ArraySlice<UInt8>? {
        places.first { isName($0.name, name.utf8) }.map { bytes[$0.value] }
    }

    /// The place of the value of the first field of a name, and the number of fields before it.
    func place(of name: String) -> (value: Range<Int>, index: Int)? {
        places.firstIndex { isName($0.name, name.utf8) }.map { (places[$0].value, $0) }
    }

    /// The fields but those of a name.
    func without(_ name: String) -> HTTPHeaders {
        guard place(of: name) != nil else { return self }
        return HTTPHeaders(bytes: bytes, places: places.filter { !isName($0.name, name.utf8) })
    }

    func slices(of name: String) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        let wanted = name.utf8
        for place in places where isName(place.name, wanted) { found.append(bytes[place.value]) }
        return found
    }

    /// Whether the field of an index, which must be below ``count``, has a name.
    func isField(_ index: Int, named name: String) -> Bool {
        isName(places[index].name, name.utf8)
    }

    /// Whether the value of the field of an index, which must be below ``count``, has no byte from 0x80 up.
    func isASCII(_ index: Int) -> Bool {
        places[index].value.allSatisfy { bytes[$0] < 0x80 }
    }

    /// Compares lengths first: a head is searched for many names, and few lengths are equal.
    private func isName(_ place: Range<Int>, _ name: String.UTF8View) -> Bool {
        guard place.count == name.count else { return false }
        var index = place.lowerBound
        for byte in name {
            if bytes[index] != ASCII.lowercased(byte) { return false }
            index += 1
        }
        return true
    }
}
