import Core

/// The routes by which services list, retry and drop dead letters.
enum OpenAPIDeadLetters {
    private static let name: JSONNode = ["type": "string", "pattern": "^(webhooks:)?[a-z][a-z0-9-]{0,31}$"]
    private static let id: JSONNode = ["type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"]
    private static let count: JSONNode = ["type": "integer", "minimum": 0]
    private static let next: JSONNode = [
        "type": ["string", "null"], "description": "The `after` of the next page; null: this is the last.",
    ]

    private static func parameter(_ name: String, _ schema: JSONNode, _ description: String) -> JSONNode {
        ["name": .text(name), "in": "query", "description": .text(description), "schema": schema]
    }

    private static func operation(_ id: String, _ summary: String, pages: Bool, _ schema: JSONNode) -> JSONNode {
        let service = parameter("service", name, "A service outside, or `webhooks:NAME` for a receiver of webhooks.")
        let which = [service.with("required", true), parameter("id", self.id, "This letter alone.")]
        let limit: JSONNode = ["type": "integer", "minimum": 1, "maximum": 100, "default": 50]
        let page = [
            parameter("after", self.id, "Letters behind this one; without `id`."),
            parameter("limit", limit, "Letters at most; without `id`."),
        ]
        return OpenAPIGateway.operation(id, summary, security: OpenAPIGateway.services)
            .with("parameters", .array(which + (pages ? page : [])))
            .with(
                "responses",
                OpenAPIErrors.responses(
                    200, OpenAPIGateway.answer("What there is, or what was done.", schema),
                    errors: [401, 403, 404, 429, 503]))
    }

    private static func object(_ members: JSONNode, _ names: [String]) -> JSONNode {
        ["type": "object", "required": .array(names.map { .text($0) }), "properties": members]
    }

    static var list: JSONNode {
        let text: JSONNode = ["type": ["string", "null"]]
        let json: JSONNode = [
            "type": ["object", "string", "null"], "description": "A text where it is not the object that it should be.",
        ]
        let call = object(
            [
                "id": id, "timestamp": ["type": "string"], "reason": text, "callId": text, "command": text,
                "request": json, "arguments": json,
            ], ["id", "timestamp", "reason", "callId", "command", "request", "arguments"])
        let event = object(
            [
                "id": id, "timestamp": ["type": "string"], "reason": text, "webhookId": text, "topic": text,
                "event": text, "data": json,
            ], ["id", "timestamp", "reason", "webhookId", "topic", "event", "data"])
        return operation(
            "dead-letters", "A page of what was given up, oldest first.", pages: true,
            object(
                ["deadLetters": ["type": "array", "items": ["anyOf": [call, event]]], "next": next],
                ["deadLetters", "next"]))
    }

    static var retry: JSONNode {
        operation(
            "retry-dead-letters", "Let one letter, or a page of them, be tried again.", pages: true,
            object(["retried": count, "gone": count, "next": next], ["retried", "gone", "next"]))
    }

    static var drop: JSONNode {
        operation(
            "drop-dead-letters", "Drop one letter, or all.", pages: false, object(["dropped": count], ["dropped"]))
    }
}
