public import Core

/// The settings of a gateway node.
///
/// ``CommandLine`` makes them of checked input, and code of the defaults. Paths are unchanged: relative ones are
/// relative to the working directory.
public struct GatewaySettings: Sendable, Equatable {
    /// The address at which clients connect with TLS; needs ``tlsCert`` and ``tlsKey``.
    public var listen: HostPort?
    /// The address at which clients connect without TLS.
    public var listenPlain: HostPort?
    /// The separate address of metrics and health; `nil`: the other listeners serve them.
    public var ops: HostPort?
    /// Whether other processes may listen on the same addresses.
    public var reusePort = false
    /// The URL of Redis; it may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// The prefix of every Redis key and channel; `[A-Za-z0-9._:-]{0,64}`.
    public var redisPrefix = ""
    /// The position of the id in names.
    public var redisLayout = KeyLayout.plain
    /// The number of replicas that must have stored an acknowledged write, 0 to 15; 0 for none.
    public var redisWait = 0
    /// The built-in packs of scripts that are served.
    public var packs: [String] = []
    /// The names of services and webhook receivers that the same file declares for couriers.
    public var outside: [String] = []
    /// The directory of the operator's own scripts.
    public var scripts: String?
    /// The numbers of packs that the operator chooses, `PACK.NAME=NUMBER` each.
    public var packNumbers: [String] = []
    /// The certificate chain, a PEM file.
    public var tlsCert: String?
    /// The certificate's private key, a PEM file.
    public var tlsKey: String?
    /// A file of 32 to 1024 bytes, the same on all nodes, from which ticket keys are derived; `nil`: the private key is
    /// used.
    public var tlsTicketKeyFile: String?
    /// The files with the secrets of HS256 tokens; the first one signs when the gateway makes tokens.
    public var jwtSecretFiles: [KeyFile] = []
    /// The files with the secrets of tokens that the gateway signs for scripts; the first one signs.
    public var mintSecretFiles: [String] = []
    /// Files with public keys, PEM.
    public var jwtKeys: [String] = []
    /// The file with a JSON Web Key Set.
    public var jwks: String?
    /// The issuer that tokens must name; `nil` takes any.
    public var jwtIssuer: String?
    /// The audience that tokens must name; `nil` takes any.
    public var jwtAudience: String?
    /// The meanings of roles in other issuers' tokens.
    public var jwtRoles: [RoleMapping] = []
    /// The file with the services' API keys.
    public var apiKeys: String?
    /// The exact origins whose pages may connect; empty: only the gateway's own.
    public var allowOrigins: [String] = []
    /// The proxies that are trusted to forward the client's address.
    public var trustProxies: [CIDR] = []
    /// The listeners that expect a PROXY header.
    public var proxyProtocol = ProxyProtocol.off
    /// Reactor threads, 0...1024; 0 means one for each core.
    public var shards = 0
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// The file of the access log, `-` for standard output; `nil`: none.
    public var accessLog: String?
    /// Whether the node is ready while at least one master of a cluster is proven.
    public var readyPartial = false
    /// The file that receives the bound addresses once all listeners work; `nil`: none.
    public var readyFile: String?
    /// The limits; `--drain-seconds` is ``Limits/drainMs`` here.
    public var limits = Limits()
    /// The policy of each existing namespace.
    public var namespaces: [String: NamespacePolicy] = [:]
    /// The rules of WebSockets, by path.
    public var sockets: [String: SocketRules] = [:]
    /// The path at which clients of Socket.IO connect.
    public var socketIOPath = "/socket.io"
    /// Namespaces of Socket.IO beside `/`: those of the packs' and the file's sockets, then those of the setting.
    public var socketIONamespaces: [String] = []
    /// The backends' older way to publish that the gateway takes.
    public var bridge = BridgeKind.off
    /// Whether the gateway accepts `permessage-deflate`.
    public var deflate = false
    /// The least size of a message that is deflated, bytes.
    public var deflateBytesMin = 512
    /// Whether `check` prints the changes that an existing deployment needs.
    public var showsUpgrade = false
    /// Whether `/echo` is served.
    public var echo = false
    /// Whether the operator's page is on the listeners of clients, too.
    public var inspector = false
    /// Whether clients may connect without a token.
    public var anonymous = true
    /// The settings in effect with their sources, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults; without a listener.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.layout(at: redis, redisLayout))
    }

    /// The config file when it holds the password of Redis; `nil` otherwise.
    public var fileWithPassword: String? {
        // The report shows the URL without its password.
        guard let line = report.lines.first(where: { $0.name == "redis" }), line.value != redis,
            case .file(let path, _) = line.source
        else { return nil }
        return path
    }

    /// One line for each setting in effect: name, value, source; passwords are masked.
    public func describe() -> String { report.description }
}

extension GatewaySettings {
    /// Takes the checked values.
    init(_ values: SettingValues, _ file: FileReader) {
        listen = values.hostPort("listen")
        listenPlain = values.hostPort("listen-plain")
        ops = values.hostPort("ops")
        reusePort = values.boolean("reuse-port", default: reusePort)
        redis = values.text("redis") ?? redis
        redisWait = values.integer("redis-wait") ?? redisWait
        readyPartial = values.boolean("ready-partial", default: readyPartial)
        redisPrefix = values.text("redis-prefix") ?? redisPrefix
        redisLayout = values.choice("redis-layout", default: redisLayout)
        scripts = values.text("scripts")
        packNumbers = values.texts("pack-number")
        tlsCert = values.text("tls-cert")
        tlsKey = values.text("tls-key")
        tlsTicketKeyFile = values.text("tls-ticket-key-file")
        // The texts passed the same readers before, so none is dropped.
        jwtSecretFiles = values.texts("jwt-secret-file").compactMap { try? KeyFile(parsing: $0) }
        mintSecretFiles = values.texts("mint-secret-file")
        jwtRoles = values.texts("jwt-role").compactMap { try? RoleMapping(parsing: $0) }
        jwtKeys = values.texts("jwt-key")
        jwks = values.text("jwks")
        jwtIssuer = values.text("jwt-issuer")
        jwtAudience = values.text("jwt-audience")
        apiKeys = values.text("api-keys")
        allowOrigins = values.texts("allow-origin")
        trustProxies = values.texts("trust-proxy").compactMap { try? CIDR($0.utf8) }
        proxyProtocol = values.choice("proxy-protocol", default: proxyProtocol)
        shards = values.integer("shards") ?? shards
        log = values.choice("log", default: log)
        logLevel = values.choice("log-level", default: logLevel)
        accessLog = values.text("access-log")
        readyFile = values.text("ready-file")
        limits = values.limits
        packs = file.packs
        outside = file.services.map(\.name) + file.webhooks.map(\.name)
        namespaces = file.namespaces
        sockets = file.sockets
        socketIOPath = values.text("socketio-path") ?? socketIOPath
        socketIONamespaces = file.socketIONamespaces + values.texts("socketio-namespace")
        bridge = values.choice("bridge", default: bridge)
        deflate = values.boolean("deflate", default: deflate)
        deflateBytesMin = values.integer("deflate-min-bytes") ?? deflateBytesMin
        showsUpgrade = values.boolean("upgrade", default: false)
        echo = values.boolean("echo", default: echo)
        inspector = values.boolean("inspector", default: inspector)
        anonymous = values.boolean("anonymous", default: anonymous)
        report = SettingsReport(values, file)
    }
}
