import Core
import HTTPCodec
import Reactors
import Rights

/// `GET /v1/openapi.json`: what the caller may call.
///
/// Thread: the shard's.
final class OpenAPIRoute {
    private unowned let shard: Shard
    /// Documents of kinds of callers that are not usual: tokens for certain topics.
    private var made: [OpenAPIAudience: OpenAPIDocuments.Document] = [:]

    /// The most documents that are kept; beyond, all are made anew.
    private static let madeMax = 64

    init(shard: Shard) {
        self.shard = shard
    }

    /// Answers the request: 304 when the client has the document.
    func answer(_ request: HTTPRequest, _ respond: Respond) {
        let audience = OpenAPIAudience(request.caller)
        if let document = shard.node.documents[audience] ?? made[audience], isKnown(document, request.head) {
            return respond(described(HTTPResponse(status: 304, body: [], keepAlive: true), document))
        }
        // A document has hundreds of kilobytes, and a client needs it once.
        if let waitMs = shard.node.waitForDocument(request.origin.address, nowMs: shard.nowMs) {
            shard.statistics.rateLimited.add(1)
            let rate = "more than \(shard.limits.documentsPerAddressPerSecond) descriptions a second from this address"
            let text = rate + "; send If-None-Match with the last ETag"
            return respond(.refusal(Refusal(.rateLimited, text, retryAfterMs: waitMs), keepAlive: true))
        }
        let document = document(audience, request.caller)
        respond(described(.json(status: 200, body: document.body, keepAlive: true), document))
    }

    private func document(_ audience: OpenAPIAudience, _ caller: Caller) -> OpenAPIDocuments.Document {
        if let document = shard.node.documents[audience] ?? made[audience] { return document }
        if made.count >= OpenAPIRoute.madeMax { made = [:] }
        let document = shard.node.documents.make(for: caller)
        made[audience] = document
        return document
    }

    /// Whether the request names the document as the one that the client has (RFC 9110 section 13.1.2).
    private func isKnown(_ document: OpenAPIDocuments.Document, _ head: HTTPRequestHead) -> Bool {
        let weak = Array("W/".utf8)
        return head.headers.tokens(of: "if-none-match").contains { tag in
            tag.elementsEqual("*".utf8)
                || (tag.starts(with: weak) ? tag.dropFirst(2) : tag[...]).elementsEqual(document.tag.bytes)
        }
    }

    /// Adds what caches must know: the document is the caller's, and is asked for anew each time.
    private func described(_ response: HTTPResponse, _ document: OpenAPIDocuments.Document) -> HTTPResponse {
        var response = response
        response.set(.etag, document.tag)
        response.set(.cacheControl, "private, no-cache")
        response.set(.vary, "apikey, Authorization")
        return response
    }
}
