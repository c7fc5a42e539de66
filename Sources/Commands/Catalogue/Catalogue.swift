public import HTTPCodec

/// Every script that a node knows, read and checked, and the names and routes by which it is called.
///
/// Immutable and thread-safe.
public struct Catalogue: Sendable {
    /// The commands by name, in name order.
    public let commands: [CommandDescriptor]
    /// The refreshes that the worker runs when keys change, in name order.
    public let refreshes: [CommandDescriptor]
    /// The commands that gateways run regularly for each user with a live connection.
    public let heartbeats: [CommandDescriptor]
    /// The commands that erase and those that export a user's data, in name order.
    public let erasers, exporters: [CommandDescriptor]
    /// The outside services that scripts call or ask, in name order.
    public let services: [String]
    /// The state providers, by namespace.
    public let states: [String: StateProvider]
    /// The types that headers declare, in name order.
    public let types: [NamedType]
    /// The embedded scripts without a kind, which the gateway calls itself.
    public let plain: [ScriptFile]
    /// Hints for authors about scripts without errors, by file and line.
    public let hints: [ScriptProblem]
    /// Embedded scripts left out because their namespaces are not configured, in name order.
    public let disabled: [DisabledScript]

    /// The scripts with a step that needs keys of several ids, so that a Redis Cluster cannot run them.
    public var needingOneServer: [CommandDescriptor] { (commands + refreshes).filter(\.needsOneServer) }

    private let byName: [String: Int]
    /// The most time that Redis needs for a call of each script, in microseconds, by name in the registry.
    let weights: [String: Int]
    private let routes: RouteTable

    /// The gateway's own path prefixes, under which no command's route may lie.
    public static let reservedPaths = ["/realtime"] + GatewayRoutes.reserved

    /// Reads all scripts; throws every problem of every file.
    ///
    /// `namespaces` are those of the configuration. `reservedPaths` are further paths of the gateway, e.g. those of
    /// WebSockets and pages. No route may be or lie under one. `isSharded`: the scripts are for a Redis Cluster.
    public init(
        embedded: [ScriptFile], operators: [ScriptFile], namespaces: Set<String>, reservedPaths: [String],
        isSharded: Bool = false
    ) throws(CatalogueFailure) {
        var reader = CatalogueReader(namespaces: namespaces, reserved: Catalogue.reservedPaths + reservedPaths)
        for file in embedded { reader.read(file, isEmbedded: true) }
        for file in operators { reader.read(file, isEmbedded: false) }
        reader.check()
        guard reader.problems.isEmpty else {
            throw CatalogueFailure(
                problems: reader.problems.sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) })
        }
        let scripts = reader.scripts.map { isSharded ? $0.descriptor.onCluster() : $0.descriptor }
            .sorted { $0.name < $1.name }
        commands = scripts.filter { $0.refresh == nil }
        refreshes = scripts.filter { $0.refresh != nil }
        heartbeats = commands.filter { $0.heartbeatSeconds != nil }
        (erasers, exporters) = (commands.filter(\.erases), commands.filter(\.exports))
        services = Set(commands.flatMap { $0.services + ($0.via.map { [$0.service] } ?? []) }).sorted()
        states = reader.states
        types = reader.types.all
        plain = reader.plain
        disabled = reader.disabled.sorted { $0.name < $1.name }
        byName = Dictionary(uniqueKeysWithValues: commands.enumerated().map { ($1.name, $0) })
        routes = RouteTable(commands)
        weights = Catalogue.table(commands + refreshes, states.values, reader.plainWeights)
        hints =
            Catalogue.unweighed(operators, commands + refreshes, states.values)
            + Catalogue.untyped(operators, reader.scripts, states.values)
    }

    /// The command of a name; `nil` when there is none.
    public func command(named name: String) -> CommandDescriptor? {
        byName[name].map { commands[$0] }
    }

    /// The refresh of a name; `nil` when there is none.
    public func refresh(named name: String) -> CommandDescriptor? {
        refreshes.first { $0.name == name }
    }

    /// The command of a method and the decoded parts of a path; HEAD matches the routes of GET.
    public func route(method: HTTPMethod, segments: [String]) -> RouteMatch {
        routes.match(method, segments)
    }
}
