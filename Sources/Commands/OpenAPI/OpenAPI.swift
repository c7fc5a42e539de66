public import Core

/// The description of the HTTP interface that clients and tools read (OpenAPI 3.1).
///
/// Immutable and thread-safe. Each operation is encoded once. A document for a caller combines those that the caller
/// may use.
public struct OpenAPI: Sendable {
    private let version: String
    private let paths: OpenAPIPaths
    private let commands: [CommandDescriptor]

    /// Describes a node.
    ///
    /// `limits` are those of the configuration; `version` is the gateway's. `hasOperations`: the same address answers
    /// health requests. `errors` are the forms of refusals on the packs' routes, the longest prefix first.
    public init(
        _ catalogue: Catalogue, version: String, limits: Limits, hasOperations: Bool = true, errors: [RouteErrors] = []
    ) {
        self.version = version
        var paths = OpenAPIPaths()
        let gateway = OpenAPITemplate.embedded { () throws(OpenAPITemplate.Problem) in
            try OpenAPIGateway(limits, catalogue, hasOperations: hasOperations)
        }
        gateway.add(to: &paths)
        commands = catalogue.commands.filter { !$0.rights.isWorkerOnly }
        for command in commands { OpenAPICommand(command, errors).add(to: &paths) }
        self.paths = paths
    }

    /// The document of the wanted endpoints as JSON text.
    public func document(_ isWanted: (Endpoint) -> Bool = { _ in true }) -> [UInt8] {
        let files = Set(commands.filter { isWanted(.command($0)) }.map(\.file.name)).sorted()
        let document: JSONNode = [
            "openapi": "3.1.0",
            "info": [
                "title": "Switchboard",
                "version": .text(version),
                "summary": "Publish events, read topics, run commands.",
            ],
            "tags": .array((["gateway"] + files).map { ["name": .text($0)] }),
            "paths": paths.node(isWanted),
            "components": .raw(OpenAPIComponents.bytes),
        ]
        return document.bytes
    }
}
