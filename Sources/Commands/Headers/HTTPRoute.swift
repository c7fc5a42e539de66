import Core
public import HTTPCodec

/// A route of a command's own: a method, a path whose parts may be arguments, and the status of its answers.
public struct HTTPRoute: Hashable, Sendable, CustomStringConvertible {
    /// GET, POST, PUT, PATCH or DELETE; a GET route also answers HEAD.
    public let method: HTTPMethod
    /// The path; it has at least one part, and each argument once.
    public private(set) var path: RoutePath
    /// The status of a successful answer: 200, 201, 202, or 204 without a body.
    public let status: Int
    /// The outside service that answers; `nil`: the script answers itself.
    public let via: OutsideAnswer?

    private static let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete]
    /// The most parts a path may have.
    static let segmentsMax = 16

    private static let statuses = [200, 201, 202, 204]

    /// Reads `METHOD /path/{arg} [STATUS] [via SERVICE [cache SECONDS] [-- SENTENCE]]`.
    init(header text: String) throws(HeaderFault) {
        let halves = HeaderText.cut(text, at: " via ")
        let words = HeaderText.words(halves?.before ?? text)
        guard (2...3).contains(words.count) else {
            throw HeaderFault(
                "expected a method, a path and perhaps a status, e.g. POST /v1/shops/{shopId} or PUT /v1/x/{shopId} 204"
            )
        }
        status = words.count == 3 ? ASCII.decimal(Array(words[2].utf8)) ?? 0 : 200
        guard HTTPRoute.statuses.contains(status) else {
            throw HeaderFault("the status of an answer is 200, 201, 202 or 204; refusals have their own")
        }
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
        via = try halves.map { (_, after) throws(HeaderFault) in try OutsideAnswer(header: after) }
        path = RoutePath(try parts.dropFirst().map { (part) throws(HeaderFault) in try HTTPRoute.segment(part) })
        guard Set(path.arguments).count == path.arguments.count else {
            throw HeaderFault("the path names an argument twice")
        }
    }

    private static func segment(_ text: String) throws(HeaderFault) -> RoutePath.Segment {
        if text.hasPrefix("{") && text.hasSuffix("}") {
            let name = String(text.dropFirst().dropLast())
            guard HeaderText.isWireName(name) else {
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

    /// The route with other names for its arguments.
    func renamed(_ name: (String) -> String) -> HTTPRoute {
        var route = self
        route.path = path.renamed(name)
        return route
    }

    /// The method and the path as written.
    public var description: String { "\(method.rawValue) \(path)" }
}
