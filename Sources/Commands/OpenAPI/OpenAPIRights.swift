import Core

/// The routes by which services grant and revoke access.
enum OpenAPIRights {
    private static let user: JSONNode = ["type": "string", "pattern": "^[A-Za-z0-9._~:-]{1,128}$"]

    private static func operation(_ id: String, _ summary: String) -> JSONNode {
        OpenAPIGateway.operation(id, summary, security: OpenAPIGateway.services)
    }

    /// `PUT` makes the user a member, `DELETE` removes the user.
    static func member(takesIn: Bool) -> JSONNode {
        let schema: JSONNode = [
            "type": "object", "required": ["topic", "user", "member", "changed"],
            "properties": [
                "topic": OpenAPISchemas.reference("Topic"), "user": user,
                "member": ["const": .bool(takesIn)], "changed": ["type": "boolean"],
            ],
        ]
        let summary =
            takesIn
            ? "Make a user a member of a topic."
            : "Take a user out of a topic's members, and off the topic, on every gateway."
        return operation(takesIn ? "add-member" : "remove-member", summary)
            .with(
                "parameters",
                [OpenAPIGateway.topicParameter, ["name": "user", "in": "path", "required": true, "schema": user]]
            )
            .with(
                "responses",
                OpenAPIErrors.responses(
                    200, OpenAPIGateway.answer("Whether it changed anything.", schema),
                    errors: [401, 403, 404, 409, 413, 503]))
    }

    static var revocation: JSONNode {
        let until: JSONNode = [
            "type": "integer", "minimum": 1, "maximum": .int(253_402_300_799),
            "description": "Unix seconds; tokens issued until then are refused.",
        ]
        let id: JSONNode = ["type": "string", "pattern": "^[!-~]{1,256}$"]
        let ofUser: JSONNode = [
            "type": "object", "required": ["user"], "properties": ["user": user, "before": until],
            "additionalProperties": false,
        ]
        let ofToken: JSONNode = [
            "type": "object", "required": ["tokenId"], "properties": ["tokenId": id], "additionalProperties": false,
        ]
        return operation("revoke", "Refuse a user's tokens, or one token, and end their sessions on every gateway.")
            .with(
                "requestBody", ["required": true, "content": OpenAPIErrors.content(["oneOf": [ofUser, ofToken]])]
            )
            .with(
                "responses",
                OpenAPIErrors.responses(
                    200, OpenAPIGateway.answer("What is refused from now on.", ["oneOf": [ofUser, ofToken]]),
                    errors: [401, 403, 409, 503]))
    }
}
