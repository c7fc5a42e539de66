import Core

/// The routes that erase and tell everything of a user.
struct OpenAPIUserData {
    private static let path = "/v1/users/{userId}/data"

    private let catalogue: Catalogue

    init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
    }

    /// Adds what some script does: a gateway without such scripts has no such routes.
    func add(to paths: inout OpenAPIPaths) {
        let shape = "/v1/users/*/data"
        if !catalogue.exporters.isEmpty { paths.add("get", Self.path, shape: shape) { _ in export } }
        if !catalogue.erasers.isEmpty { paths.add("delete", Self.path, shape: shape) { _ in erasure } }
    }

    private func operation(
        _ id: String, _ summary: String, _ weightMicroseconds: Int, _ status: Int, _ success: JSONNode
    ) -> JSONNode {
        let user: JSONNode = [
            "name": "userId", "in": "path", "required": true,
            "schema": ["type": "string", "pattern": "^[A-Za-z0-9._~:-]{1,128}$"],
        ]
        return OpenAPIGateway.operation(id, summary, security: OpenAPIGateway.services)
            .with("description", "Services may ask, and the user himself.")
            .with("x-weight", .int(weightMicroseconds))
            .with("parameters", [user])
            .with("responses", OpenAPIErrors.responses(status, success, errors: [401, 403, 404, 429, 503]))
    }

    private func weight(_ commands: [CommandDescriptor]) -> Int {
        commands.reduce(0) { $0 + $1.weightMicroseconds }
    }

    private var export: JSONNode {
        let members = catalogue.exporters.map { script -> (String, JSONNode) in
            (script.exportName, ["type": "object", "description": .text(script.summary + " " + script.returns)])
        }
        let schema: JSONNode = [
            "type": "object", "additionalProperties": false, "properties": .object(members),
            "required": .array(members.map { .text($0.0) }),
        ]
        return operation(
            "export-user", "Tell what the packs keep of a user.", weight(catalogue.exporters), 200,
            OpenAPIGateway.answer("A member for each pack.", schema))
    }

    private var kept: JSONNode {
        [
            "type": "object", "additionalProperties": false, "required": ["keys", "what", "until"],
            "properties": [
                "keys": ["type": "array", "items": ["type": "string"]], "what": ["type": "string"],
                "until": ["type": "string"],
            ],
        ]
    }

    private var erasure: JSONNode {
        let schema: JSONNode = [
            "type": "object", "additionalProperties": false, "required": ["userId", "queued", "keeps"],
            "properties": [
                "userId": ["type": "string"],
                "queued": ["type": "integer", "description": "How many scripts the worker runs for it."],
                "keeps": [
                    "type": "array", "description": "The data that stay, and until when (docs/erasure.md).",
                    "items": kept,
                ],
            ],
        ]
        return operation(
            "erase-user", "Erase what the packs keep of a user.", weight(catalogue.erasers), 202,
            OpenAPIGateway.answer("The calls that erase it wait in the outbox.", schema))
    }
}
