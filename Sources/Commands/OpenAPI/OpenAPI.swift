public import Core

/// The description of the HTTP interface that clients and tools read (OpenAPI 3.1).
public enum OpenAPI {
    /// The document of a node: JSON text.
    ///
    /// `limits` are those of the configuration; `version` is the gateway's. `hasOperations`: health is asked at the
    /// same address. `errors` say how the packs' routes refuse, the longest prefix first.
    public static func document(
        _ catalogue: Catalogue, version: String, limits: Limits, hasOperations: Bool = true, errors: [RouteErrors] = []
    ) -> [UInt8] {
        var paths = OpenAPIPaths()
        OpenAPIGateway.add(to: &paths, limits, hasOperations: hasOperations)
        OpenAPIUserData(catalogue).add(to: &paths)
        for descriptor in catalogue.commands where !descriptor.rights.isWorkerOnly {
            OpenAPICommand(descriptor, errors).add(to: &paths)
        }
        let files = Set(catalogue.commands.filter { !$0.rights.isWorkerOnly }.map(\.file.name)).sorted()
        let document: JSONNode = [
            "openapi": "3.1.0",
            "info": [
                "title": "Switchboard",
                "version": .text(version),
                "summary": "Publish events, read topics, run commands.",
            ],
            "tags": .array((["gateway"] + files).map { ["name": .text($0)] }),
            "paths": paths.node,
            "components": [
                "securitySchemes": [
                    "apikey": ["type": "apiKey", "in": "header", "name": "apikey"],
                    "bearer": ["type": "http", "scheme": "bearer"],
                ],
                "schemas": OpenAPISchemas.shared,
                "responses": OpenAPIErrors.shared,
            ],
        ]
        return document.bytes
    }
}
