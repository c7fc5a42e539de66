import Core
import HTTPCodec

/// Refusals in the shapes that Supabase's clients read: `{"message":"..."}`, or `{"errors":{"messages":[...]}}`.
enum SupabaseAnswer {
    /// One member with a text.
    static func error(_ status: Int, _ member: StaticString, _ text: String) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"")
        body.append(text: member)
        body.append(text: "\":")
        body.append(jsonString: text)
        body.append(text: "}")
        return .json(status: status, body: body, keepAlive: true)
    }

    /// The refusal of a call that the caller may not make, or not now.
    ///
    /// A namespace that does not exist is 403 as well: clients take 404 for a server that lacks the path.
    static func refused(_ refusal: Refusal, keepAlive: Bool = true) -> HTTPResponse {
        let status = refusal.code == .notFound ? ErrorCode.forbidden.httpStatus : refusal.code.httpStatus
        var response = error(status, "message", refusal.message)
        response.keepAlive = keepAlive
        if let waitMs = refusal.retryAfterMs {
            response.setRetryAfter(ms: waitMs)
        } else if refusal.code == .unavailable {
            response.setRetryAfter(seconds: 1)
        }
        return response
    }

    /// 422: the list of messages is invalid.
    static func unprocessable(_ text: String) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"errors\":{\"messages\":[")
        body.append(jsonString: text)
        body.append(text: "]}}")
        return .json(status: 422, body: body, keepAlive: true)
    }

    /// 422: the problem of each message; `nil` for a valid one.
    static func unprocessable(_ problems: [Refusal?]) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"errors\":{\"messages\":[")
        for (index, problem) in problems.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            guard let problem else {
                body.append(text: "{}")
                continue
            }
            body.append(text: "{\"" + member(problem) + "\":[")
            body.append(jsonString: problem.message)
            body.append(text: "]}")
        }
        body.append(text: "]}}")
        return .json(status: 422, body: body, keepAlive: true)
    }

    /// The member that a refusal names first, in single quotes; all other refusals concern the topic.
    private static func member(_ refusal: Refusal) -> String {
        ["event", "payload", "id"].first { refusal.message.hasPrefix("'" + $0 + "'") } ?? "topic"
    }
}
