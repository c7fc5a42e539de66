import Core

/// The route that lists the presence entries of a topic.
enum OpenAPIPresence {
    static func presence(_ limits: Limits) -> JSONNode {
        let id: JSONNode = ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"]
        let member: JSONNode = [
            "type": "object", "required": ["id", "user", "key", "meta"],
            "properties": [
                "id": id,
                "user": ["type": ["string", "null"], "description": "The user of the token; nobody can choose it."],
                "key": ["type": "string", "description": "The client's word, or the user, or the id."],
                "meta": ["type": "object", "description": "What the client says of itself."],
            ],
        ]
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "total", "members", "next"],
            "properties": [
                "topic": OpenAPISchemas.reference("Topic"),
                "total": ["type": "integer", "minimum": 0],
                "members": ["type": "array", "items": member],
                "next": [
                    "type": ["string", "null"], "description": "The `after` of the next page; null: this is the last.",
                ],
            ],
        ]
        let after: JSONNode = ["name": "after", "in": "query", "schema": id]
        let limit: JSONNode = [
            "name": "limit", "in": "query",
            "schema": [
                "type": "integer", "minimum": 1, "maximum": .int(limits.presencePageMax),
                "default": .int(min(100, limits.presencePageMax)),
            ],
        ]
        return OpenAPIGateway.operation("topic-presence", "Who is here on a topic.", security: OpenAPIGateway.anyone)
            .with("parameters", [OpenAPIGateway.topicParameter, after, limit])
            .with(
                "responses",
                OpenAPIErrors.responses(
                    200, OpenAPIGateway.answer("The entries.", schema), errors: [401, 403, 404, 503]))
    }
}
