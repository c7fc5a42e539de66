import Core
public import HTTPCodec

/// A route of a command's own: a method and a path whose parts may be arguments.
public struct HTTPRoute: Hashable, Sendable, CustomStringConvertible {
    /// One part of the path.
    public enum Segment: Hashable, Sendable {
        /// Exactly this text.
        case literal(String)
        /// The argument of this name.
        case argument(String)
    }

    /// GET, POST, PUT, PATCH or DELETE; a GET route also answers HEAD.
    public let method: HTTPMethod
    /// The parts between slashes; at least one.
    public let segments: [Segment]

    private static let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete]
    /// The most parts a path may have.
    static let segmentsMax = 16

    /// Reads `METHOD /path/{arg}`.
    init(header text: String) throws(HeaderFault) {
        let words = HeaderText.words(text)
        guard words.count == 2 else { throw HeaderFault("expected a method and a path, e.g. POST /v1/shops/{shopId}") }
        guard let method = HTTPMethod(rawValue: words[0]), HTTPRoute.methods.contains(method) else {
            let names = HTTPRoute.methods.map(\.rawValue)
            throw HeaderFault(
                "the method must be one of " + names.joined(separator: ", ") + NearestName.hint(names, to: words[0]))
        }
        let parts = Array(words[1].utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count >= 2, parts[0].isEmpty, parts.count <= HTTPRoute.segmentsMax + 1 else {
            throw HeaderFault("the path must begin with / and have at most \(HTTPRoute.segmentsMax) parts")
        }
        self.method = method
        var segments: [Segment] = []
        for part in parts.dropFirst() { segments.append(try HTTPRoute.segment(part)) }
        self.segments = segments
        guard Set(arguments).count == arguments.count else { throw HeaderFault("the path names an argument twice") }
    }

    private static func segment(_ text: String) throws(HeaderFault) -> Segment {
        if text.hasPrefix("{") && text.hasSuffix("}") {
            let name = String(text.dropFirst().dropLast())
            guard HeaderText.isName(name, capitals: true) else {
                throw HeaderFault(PrintableText.quoted(name) + " is no name of an argument")
            }
            return .argument(name)
        }
        let isPlain = text.utf8.allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || "._~-".utf8.contains(byte)
        }
        guard isPlain, !text.isEmpty, text != ".", text != ".." else {
            throw HeaderFault("a part of the path is letters, digits and . _ ~ -, or an argument in braces")
        }
        return .literal(text)
    }

    /// The arguments in the path, in order.
    public var arguments: [String] {
        segments.compactMap { segment in
            if case .argument(let name) = segment { return name }
            return nil
        }
    }

    /// The path with `{}` for each argument: two routes of one shape and method are one.
    var shape: String {
        segments.map { segment in
            switch segment {
            case .literal(let text): "/" + text
            case .argument: "/{}"
            }
        }.joined()
    }

    /// The path as written.
    public var path: String {
        segments.map { segment in
            switch segment {
            case .literal(let text): "/" + text
            case .argument(let name): "/{" + name + "}"
            }
        }.joined()
    }

    /// Whether a path of these parts could belong to the route; `prefix` compares only as many as both have.
    func overlaps(_ parts: [String], prefix: Bool) -> Bool {
        guard prefix ? parts.count <= segments.count : parts.count == segments.count else { return false }
        return zip(segments, parts).allSatisfy { segment, part in
            if case .literal(let text) = segment { return text == part }
            return true
        }
    }

    /// The method and the path as written.
    public var description: String { method.rawValue + " " + path }
}
