import Core

/// The routes that erase and export all data of a user.
struct OpenAPIUserData {
    private let catalogue: Catalogue

    init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
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

    /// The export; `nil` on a gateway without scripts that export.
    var export: JSONNode? {
        guard !catalogue.exporters.isEmpty else { return nil }
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

    /// The erasure; `nil` on a gateway without scripts that erase.
    var erasure: JSONNode? {
        guard !catalogue.erasers.isEmpty else { return nil }
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
