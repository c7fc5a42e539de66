/// The settings of `dev`.
public struct DevSettings: Sendable, Equatable {
    /// The gateway's TLS port on this machine; 0 picks a free one; default 8443.
    public var port: UInt16 = 8_443
    /// The directory of dev's certificate, secrets and data; default `.switchboard`.
    public var state = StateDirectory(path: ".switchboard")
    /// Whether the demo shop runs.
    public var demo = true
    /// Whether simulated people answer on the tabs of the demo's page; there are none without the demo shop.
    public var people = true
    /// The Redis server program: a path, or a name looked up in `PATH`.
    public var redisServer = "redis-server"
    /// The gateway's settings, which already name the files of ``state`` and listen on 127.0.0.1.
    public var gateway = GatewaySettings()

    /// The defaults.
    public init() {
        fillGateway()
    }

    /// Sets the gateway's settings to the files and addresses of dev.
    private mutating func fillGateway() {
        gateway.listen = HostPort(host: "127.0.0.1", port: port)
        gateway.tlsCert = state.certificate
        gateway.tlsKey = state.privateKey
        gateway.jwtSecretFiles = [KeyFile(path: state.jwtSecret)]
        // Each use derives keys of its own from it, so that neither kind of token passes for the other.
        if gateway.mintSecretFiles.isEmpty { gateway.mintSecretFiles = [state.jwtSecret] }
        gateway.apiKeys = state.apiKeys
        gateway.redis = "unix://" + state.redisSocket
        if gateway.readyFile == nil { gateway.readyFile = state.ready }
    }
}

extension DevSettings {
    /// Takes the checked values.
    init(_ values: SettingValues, _ file: FileReader) {
        port = values.integer("port").flatMap { UInt16(exactly: $0) } ?? port
        state = StateDirectory(path: values.text("state") ?? state.path)
        demo = values.boolean("demo", default: demo)
        people = values.boolean("people", default: people)
        redisServer = values.text("redis-server") ?? redisServer
        gateway = GatewaySettings(values, file)
        fillGateway()
    }
}
