import Core
import HTTPCodec
import Operations
import Reactors
import Rights
import Service

/// `GET /v1/openapi.json`: the operations that the caller may call.
///
/// Thread: the shard's.
final class OpenAPIRoute {
    private let context: HTTPContext
    private let documents: OpenAPIDocuments
    /// Documents of kinds of callers that are not usual: tokens for certain topics.
    private var made: [OpenAPIAudience: OpenAPIDocuments.Document] = [:]

    /// Maximum number of documents kept; beyond, all are made again.
    private static let madeMax = 64

    init(_ context: HTTPContext, _ documents: OpenAPIDocuments) {
        self.context = context
        self.documents = documents
    }

    /// Answers the request: 304 when the client has the document.
    func answer(_ request: HTTPRequest, _ respond: Respond) {
        let audience = OpenAPIAudience(request.caller)
        if let document = documents[audience] ?? made[audience], document.tag.isKnown(to: request.head) {
            return respond(described(HTTPResponse(status: 304, body: [], keepAlive: true), document))
        }
        // A document has hundreds of kilobytes, and a client needs it once.
        if let waitMs = context.rates.waitForDocument(request.origin.address, nowMs: context.clock.nowMs) {
            context.statistics.rateLimited.add(1)
            let rate =
                "more than \(context.limits.documentsPerAddressPerSecond) descriptions a second from this address"
            let text = rate + "; send If-None-Match with the last ETag"
            return respond(.refusal(Refusal(.rateLimited, text, retryAfterMs: waitMs), keepAlive: true))
        }
        let document = document(audience, request.caller)
        respond(described(.json(status: 200, body: document.body, keepAlive: true), document))
    }

    private func document(_ audience: OpenAPIAudience, _ caller: Caller) -> OpenAPIDocuments.Document {
        if let document = documents[audience] ?? made[audience] { return document }
        if made.count >= OpenAPIRoute.madeMax { made = [:] }
        let document = documents.make(for: caller)
        made[audience] = document
        return document
    }

    /// Adds the fields for caches: the document is private to the caller, and is validated each time.
    private func described(_ response: HTTPResponse, _ document: OpenAPIDocuments.Document) -> HTTPResponse {
        var response = response
        response.set(.etag, document.tag.value)
        response.set(.cacheControl, "private, no-cache")
        response.set(.vary, "apikey, Authorization")
        return response
    }
}
