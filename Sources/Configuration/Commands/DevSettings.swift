import Core

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
    /// Whether the data of the run before are deleted.
    public var isFresh = false
    /// The receivers of events: those of the config file, then those of `--webhook`.
    public var webhooks: [WebhookSettings] = []
    /// The PEM file of the authorities that must have issued the receivers' certificates; `nil`: the system's.
    public var authorities: String?
    /// The time to say goodbye to clients unless it is given, milliseconds: a developer's clients need none.
    static let drainMs = 500
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
        isFresh = values.boolean("fresh", default: isFresh)
        authorities = values.text("outside-ca")
        redisServer = values.text("redis-server") ?? redisServer
        gateway = GatewaySettings(values, file)
        if gateway.limits.drainMs == Limits().drainMs && !values.has("drain-seconds") {
            gateway.limits.drainMs = DevSettings.drainMs
        }
        if gateway.limits.drainGraceMs == Limits().drainGraceMs { gateway.limits.drainGraceMs = 0 }
        fillGateway()
        webhooks = file.webhooks + receivers(values.texts("webhook"))
    }

    /// The receivers of `--webhook`: each gets the events of all namespaces that have a log.
    private func receivers(_ urls: [String]) -> [WebhookSettings] {
        let topics = gateway.namespaces.filter { $0.value.logEventsMax > 0 }.keys.sorted().map { $0 + ":*" }
        return urls.enumerated().compactMap { index, url in
            guard let url = try? OutsideURL.checked(url), !topics.isEmpty else { return nil }
            return WebhookSettings(
                name: index == 0 ? "dev" : "dev-\(index + 1)", url: url, secretFile: state.webhookSecret,
                topics: Array(topics.prefix(OutsideReader.patternsMax)))
        }
    }
}
