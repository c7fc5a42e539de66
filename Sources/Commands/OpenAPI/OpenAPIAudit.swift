/// The route that reports the ledger of a topic's events on a gateway.
enum OpenAPIAudit {
    static var audit: JSONNode {
        let count: JSONNode = ["type": "integer"]
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "epoch", "offset", "node", "sessions", "ledger", "balanced"],
            "properties": [
                "topic": OpenAPISchemas.reference("Topic"), "epoch": ["type": ["string", "null"]],
                "offset": OpenAPISchemas.reference("Offset"), "node": ["type": "string"], "sessions": count,
                "ledger": ["type": "object", "additionalProperties": count], "balanced": ["type": "boolean"],
            ],
        ]
        return OpenAPIGateway.operation(
            "topic-audit", "What became of a topic's events on this gateway.", security: OpenAPIGateway.services
        )
        .with("parameters", [OpenAPIGateway.topicParameter])
        .with(
            "responses",
            OpenAPIErrors.responses(
                200, OpenAPIGateway.answer("The ledger of the topic.", schema), errors: [401, 403, 404, 503]))
    }
}
