public import Configuration
import Core
import Dialects
import HTTPCodec
import Rights
import Topics

extension DialectRegistry {
    /// Every dialect that the gateway speaks.
    public static func standard(_ settings: GatewaySettings, _ proofs: SessionProofs) -> DialectRegistry {
        let limits = settings.limits
        let native = NativeDialect(
            json: limits.json, subscribeBatchMax: limits.subscribeBatchMax, publishBytesMax: limits.publishBytesMax)
        let socketIO = SocketIODialect(settings, proofs)
        let sockets = NativeEntry.entries(native, settings)
        let others = [
            Entry(
                paths: [settings.socketIOPath], framing: .webSocket,
                dialect: { head in EngineRequest.webSocket(head).map { socketIO } }, authenticatesSessions: true),
            Entry(
                paths: [EventStreamDialect.path], framing: .eventStream,
                dialect: { StreamRequest.dialect($0, limits) }, credentials: StreamRequest.credentials),
            PhoenixEntry.entry(settings),
            Entry(
                paths: [settings.socketIOPath], framing: .packets, dialect: { _ in .success(socketIO) },
                authenticatesSessions: true),
        ]
        return DialectRegistry(
            others + sockets.filter { $0.pattern.arguments.isEmpty }.map(\.entry),
            patterned: sockets.filter { !$0.pattern.arguments.isEmpty }.map { ($0.pattern, $0.entry) })
    }
}

extension SocketIODialect {
    /// The dialect with a gateway's namespaces and limits.
    init(_ settings: GatewaySettings, _ proofs: SessionProofs) {
        let limits = settings.limits
        var namespaces = [SocketIODialect.mainNamespace]
        for more in settings.socketIONamespaces where !namespaces.contains(more) { namespaces.append(more) }
        self.init(
            namespaces: namespaces, rules: settings.joinableSockets,
            settings: SocketIODialect.Settings(
                pingIntervalMs: limits.socketIOPingMs, pingTimeoutMs: limits.socketIOPongMs,
                payloadBytesMax: limits.inboundMessageBytesMax, connectMs: limits.authenticateMs, json: limits.json,
                subscribeBatchMax: limits.subscribeBatchMax, publishBytesMax: limits.publishBytesMax),
            prove: { proofs.prove($0) },
            makeID: { SecureRandom.text(byteCount: 15) })
    }
}
