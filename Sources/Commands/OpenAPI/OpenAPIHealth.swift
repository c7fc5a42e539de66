import Core

/// The route that reports the health of a gateway.
enum OpenAPIHealth {
    private static func strings(_ words: String...) -> JSONNode {
        ["type": "string", "enum": .array(words.map { .text($0) })]
    }

    /// The operation that returns every row of readiness.
    static var health: JSONNode {
        let text: JSONNode = ["type": "string"]
        let row: JSONNode = [
            "type": "object", "required": ["name", "state", "since", "reason", "figures", "mend"],
            "properties": [
                "name": text, "state": strings("fine", "warned", "red"),
                "since": [
                    "type": ["string", "null"], "description": "When the state began; null: it has always been so.",
                ],
                "reason": ["type": "string", "description": "One word; empty where a row has only one cause."],
                "figures": ["type": "object", "additionalProperties": text], "mend": text,
            ],
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["status", "node", "version", "uptimeSeconds", "rows"],
            "properties": [
                "status": strings("ready", "partly ready", "not ready"), "node": text, "version": text,
                "uptimeSeconds": ["type": "integer", "minimum": 0], "rows": ["type": "array", "items": row],
            ],
        ]
        return OpenAPIGateway.operation(
            "health", "Every row of readiness of this gateway.", security: OpenAPIGateway.services
        )
        .with(
            "responses",
            OpenAPIErrors.responses(
                200, OpenAPIGateway.answer("What works and what does not.", schema), errors: [401, 403, 429, 503]))
    }
}
