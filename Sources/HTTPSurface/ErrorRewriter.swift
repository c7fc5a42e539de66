import Commands
import Configuration
import Core
import HTTPCodec
import Rights
import Service

/// Writes a request's refusal in the form of the pack that its path belongs to.
///
/// Every refusal passes through here, whether the codec, the gate, a route or a script made it.
struct ErrorRewriter {
    /// The form of the pack's refusals.
    let errors: RouteErrors
    /// The client's name for its request; `nil`: the gateway draws one.
    private let given: MessageID?
    private let log: Log

    init(errors: RouteErrors, head: HTTPRequestHead, log: Log) {
        self.errors = errors
        self.log = log
        if case .one(let value) = head.headers.single("x-request-id") { given = MessageID(value) } else { given = nil }
    }

    /// The response in the pack's form; a response that is no refusal is unchanged.
    func rewritten(_ response: HTTPResponse) -> HTTPResponse {
        guard let failure = response.failure else { return response }
        let request = errors.namesRequests ? given?.bytes ?? SecureRandom.text(byteCount: 12) : []
        let name = String(decoding: request, as: UTF8.self)
        let rewritten = errors.answer(
            RouteErrors.Refused(
                code: failure.code, message: failure.message, status: response.status, request: name,
                retryAfterSeconds: response.retryAfterSeconds, about: failure.subject))
        var answer = response.rewritten(status: rewritten.status, body: rewritten.body)
        guard !request.isEmpty else { return answer }
        if let value = HTTPHeaderValue(request) { answer.set(.xRequestID, value) }
        log.write(
            .debug, "a request was refused",
            [("request", name), ("code", failure.code), ("status", "\(rewritten.status)")])
        return answer
    }
}
