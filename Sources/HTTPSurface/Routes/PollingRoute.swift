import Core
import Dialects
import HTTPCodec
import Operations
import Rights
import Topics
import Transports

/// Engine.IO's polling: `GET` and `POST` at the path of Socket.IO.
///
/// Thread: the shard's.
struct PollingRoute {
    let context: HTTPContext
    let polling: PollingServer
    let opener: SessionOpener

    /// Whether a path is Socket.IO's.
    func owns(_ path: [UInt8]) -> Bool { context.dialects.entry(path, .packets) != nil }

    /// Maximum bytes of a body: one packet may be as large as a WebSocket message.
    static func bodyBytesMax(_ limits: Limits) -> Int {
        min(max(limits.inboundMessageBytesMax, limits.anonymousBodyBytesMax), limits.bodyBytesMax)
    }

    /// Answers a request, now or once packets for it exist.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        let head = request.head
        let answer: PollingTransport.Answer = { respond(PollingRoute.response($0)) }
        do throws(EngineRequest.Fault) {
            switch try EngineRequest(polling: head) {
            case .open: open(request, respond, answer)
            case .fetch(let session):
                let number = polling.newNumber()
                request.watch { [polling] in polling.abandoned(session, number) }
                polling.request(number, session, nil, at: request.origin.address, answer)
            case .send(let session):
                if case .one(let type) = head.headers.single("content-type"),
                    ASCII.equalIgnoringCase(type, "application/octet-stream".utf8)
                {
                    throw .request
                }
                let number = polling.newNumber()
                polling.request(number, session, request.body, at: request.origin.address, answer)
            }
        } catch {
            answer(.fault(error))
        }
    }

    private func open(_ request: HTTPRequest, _ respond: Respond, _ answer: @escaping PollingTransport.Answer) {
        guard let entry = context.dialects.entry(request.head.path, .packets) else {
            return answer(.fault(.request))
        }
        guard !context.memory.isShort, !context.health.isDraining else { return answer(.busy) }
        switch opener.open(entry, request.head, request.origin) {
        case .failure(let refused) where refused.status == 403:
            answer(.fault(.forbidden))
        case .failure(let refused):
            respond(.refusal(refused.refusal, status: refused.status, keepAlive: true))
        case .success(.machine(let dialect as SocketIODialect, let caller)):
            guard polling.open(dialect, caller, at: request.origin.address, answer) else {
                let refusal = Refusal(.rateLimited, "too many connections from this address", retryAfterMs: 1_000)
                return respond(.refusal(refusal, keepAlive: true))
            }
        case .success:
            answer(.fault(.request))
        }
    }

    // MARK: Answers

    private static func response(_ answer: PollAnswer) -> HTTPResponse {
        switch answer {
        case .packets(let bytes):
            var response = HTTPResponse.typed("text/plain; charset=UTF-8", status: 200, body: bytes, keepAlive: true)
            response.set(.cacheControl, "no-store")
            return response
        case .taken:
            return .typed("text/html", status: 200, body: Array("ok".utf8), keepAlive: true)
        case .tooLarge:
            return .refusal(Refusal(.tooLarge, "a packet is too large"), keepAlive: true)
        case .busy:
            return .refusal(Refusal(.unavailable, "this node takes no more now", retryAfterMs: 1_000), keepAlive: true)
        case .fault(let fault):
            var body = Array("{\"code\":".utf8)
            body.append(decimal: fault.rawValue)
            body.append(text: ",\"message\":")
            body.append(jsonString: "\(fault.message)")
            body.append(text: "}")
            return .json(status: fault == .forbidden ? 403 : 400, body: body, keepAlive: true)
        }
    }
}
