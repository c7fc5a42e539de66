import Core
import HTTPCodec
import Rights

/// The response fields that let pages of other origins read answers (Fetch standard, section 3.3).
///
/// The origins are those that may open connections. The browser's own credentials are never allowed: a page sends a
/// token or a key itself.
struct CrossOrigin {
    /// Seconds for which a browser may cache the answer to a preflight request.
    private static let maxAgeSeconds = 7_200
    /// The methods of all routes.
    private static let methods: HTTPHeaderValue = "GET, HEAD, POST, PUT, PATCH, DELETE"
    /// Response fields that pages may read.
    private static let exposed: HTTPHeaderValue = "Retry-After"

    let origins: OriginPolicy

    /// Whether the request is a browser's preflight request.
    static func isPreflight(_ head: HTTPRequestHead) -> Bool {
        head.method == .options && !head.headers.values(of: "origin").isEmpty
            && !head.headers.values(of: "access-control-request-method").isEmpty
    }

    /// The fields that a response bears for the page that asked; empty for other callers.
    func fields(_ head: HTTPRequestHead) -> [HTTPResponse.Field] {
        let asking = head.headers.values(of: "origin")
        guard !asking.isEmpty else { return [] }
        let vary = HTTPResponse.Field(.vary, "Origin")
        guard let value = origins.accessControlAllowOrigin(asking).flatMap({ HTTPHeaderValue($0) }) else {
            return [vary]
        }
        return [
            HTTPResponse.Field(.accessControlAllowOrigin, value), vary,
            HTTPResponse.Field(.accessControlExposeHeaders, CrossOrigin.exposed),
        ]
    }

    /// Adds the fields to a response, which may vary by more than the page's origin.
    static func add(_ fields: [HTTPResponse.Field], to response: inout HTTPResponse) {
        for field in fields where field.name != .vary { response.set(field.name, field.value) }
        for field in fields where field.name == .vary { response.add(field.name, field.value) }
    }

    /// The response to a preflight request: the methods and fields that pages of that origin may send.
    func preflight(_ head: HTTPRequestHead) -> HTTPResponse {
        var response = HTTPResponse(status: 204, body: [], keepAlive: true)
        guard origins.accessControlAllowOrigin(head.headers.values(of: "origin")) != nil else { return response }
        response.add(.accessControlAllowMethods, CrossOrigin.methods)
        let wanted = head.headers.tokens(of: "access-control-request-headers")
        if !wanted.isEmpty, let value = HTTPHeaderValue(Array(wanted.joined(separator: Array(", ".utf8)))) {
            response.add(.accessControlAllowHeaders, value)
        }
        response.add(.accessControlMaxAge, HTTPHeaderValue(decimal: CrossOrigin.maxAgeSeconds))
        return response
    }
}
