import Configuration
public import Core
import Scripts

/// The namespaces and sockets that a gateway has by default: those of `core` and of the standard packs.
public enum StandardTables {
    /// The `pack.json` of `core` and `barbershop`, by the pack's name.
    public static let packs = Scripts.packs.filter { ["core", "barbershop"].contains($0.key) }
    /// The policies of namespaces.
    public static let namespaces: [String: NamespacePolicy] = settings.namespaces
    /// The rules of WebSockets, by path.
    public static let sockets: [String: SocketRules] = settings.sockets
    /// The namespaces of Socket.IO, the main one first.
    public static let socketIONamespaces: [String] = ["/"] + settings.socketIONamespaces

    /// The settings of a gateway without any but a listener; empty tables when the packs are refused.
    private static let settings: GatewaySettings = {
        let words = ["gateway", "--listen-plain", "127.0.0.1:0"]
        let result = Configuration.CommandLine.parse(arguments: words, environment: [:], packs: packs) { _ in nil }
        guard case .run(.gateway(let settings)) = result else { return GatewaySettings() }
        return settings
    }()
}
