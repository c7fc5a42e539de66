public import HTTPCodec
public import WebPages

/// Serves the embedded pages, each file with the fields that its browser needs.
///
/// Thread: the shard's.
public enum PageRoute {
    /// Answers a request for an embedded file; false where there is no such file.
    public static func answers(
        _ request: HTTPRequest, frames: WebPages.Frames = .none, _ respond: Respond
    ) -> Bool {
        guard let file = WebPages.files["/" + request.segments.joined(separator: "/")] else { return false }
        guard request.head.method == .get || request.head.method == .head else {
            respond(.methodNotAllowed([.get, .head], keepAlive: true))
            return true
        }
        var response = HTTPResponse.typed(
            HTTPHeaderValue(file.contentType) ?? "text/plain", status: 200, body: file.bytes, keepAlive: true)
        let policy = HTTPHeaderValue(WebPages.contentSecurityPolicy(frames))
        response.set(.contentSecurityPolicy, policy ?? "default-src 'none'")
        response.set(.cacheControl, "no-cache")
        response.set(.referrerPolicy, "no-referrer")
        respond(response)
        return true
    }
}
