public import Core

/// The description of the HTTP interface that clients and tools read (OpenAPI 3.1).
///
/// Immutable and thread-safe. Each operation is encoded once. A document for a caller combines those that the caller
/// may use.
public struct OpenAPI: Sendable {
    private let version: String
    private let paths: OpenAPIPaths
    private let commands: [CommandDescriptor]
    /// The schemas of answers and declared types by their names, each encoded once.
    private let schemas: [String: [UInt8]]
    /// The names of the schemas that each command's operations refer to, directly or through others.
    private let named: [String: Set<String>]

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
        var schemas = Dictionary(
            uniqueKeysWithValues: catalogue.types.map { ($0.name, OpenAPIValues.schema($0.value).bytes) })
        var named: [String: Set<String>] = [:]
        for command in commands {
            named[command.name] = command.emits.reduce(into: catalogue.reach(command.returns.type)) { names, event in
                names.formUnion(catalogue.reach(event.data.type))
            }
            guard let name = OpenAPICommand.component(command) else { continue }
            schemas[name] = OpenAPICommand.answer(command).bytes
            named[command.name]?.insert(name)
        }
        (self.schemas, self.named) = (schemas, named)
    }

    /// The document of the wanted endpoints as JSON text.
    public func document(_ isWanted: (Endpoint) -> Bool = { _ in true }) -> [UInt8] {
        let wanted = commands.filter { isWanted(.command($0)) }
        let files = Set(wanted.map(\.file.name)).sorted()
        let names = wanted.reduce(into: Set<String>()) { $0.formUnion(named[$1.name] ?? []) }
        let document: JSONNode = [
            "openapi": "3.1.0",
            "info": [
                "title": "Switchboard",
                "version": .text(version),
                "summary": "Publish events, read topics, run commands.",
            ],
            "tags": .array((["gateway"] + files).map { ["name": .text($0)] }),
            "paths": paths.node(isWanted),
            "components": OpenAPIComponents.node(names.sorted().map { ($0, .raw(schemas[$0] ?? [])) }),
        ]
        return document.bytes
    }
}
