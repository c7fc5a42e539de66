public import Core

/// The settings of a gateway node.
///
/// Made by ``CommandLine`` from checked input, or by code from the defaults. Paths are as configured: relative ones
/// are relative to the working directory.
public struct GatewaySettings: Sendable, Equatable {
    /// Where clients connect with TLS; needs ``tlsCert`` and ``tlsKey``.
    public var listen: HostPort?
    /// Where clients connect without TLS.
    public var listenPlain: HostPort?
    /// Where metrics and health are served apart; `nil` serves them on the other listeners.
    public var ops: HostPort?
    /// Whether other processes may listen on the same addresses.
    public var reusePort = false
    /// The URL of Redis; may hold a password, so it is shown only through ``report``.
    public var redis = "redis://127.0.0.1:6379"
    /// What is put before every Redis key and channel; `[A-Za-z0-9._:-]{0,64}`.
    public var redisPrefix = ""
    /// Where the id stands in names.
    public var redisLayout = KeyLayout.plain
    /// Replicas that must have what is acknowledged, 0 to 15; 0 for none.
    public var redisWait = 0
    /// The built-in packs of scripts that are served.
    public var packs = ["barbershop"]
    /// The services and receivers of webhooks that the same file names for couriers.
    public var outside: [String] = []
    /// The directory of the operator's own scripts.
    public var scripts: String?
    /// The certificate chain, a PEM file.
    public var tlsCert: String?
    /// The certificate's private key, a PEM file.
    public var tlsKey: String?
    /// A file of 32 to 1024 bytes, the same on all nodes, that ticket keys are derived from; `nil` takes the private key.
    public var tlsTicketKeyFile: String?
    /// The files with the secrets of HS256 tokens; the first one signs where tokens are made.
    public var jwtSecretFiles: [KeyFile] = []
    /// The files with the secrets of tokens that scripts have the gateway sign; the first one signs.
    public var mintSecretFiles: [String] = []
    /// Files with public keys, PEM.
    public var jwtKeys: [String] = []
    /// The file with a JSON Web Key Set.
    public var jwks: String?
    /// The issuer that tokens must name; `nil` takes any.
    public var jwtIssuer: String?
    /// The audience that tokens must name; `nil` takes any.
    public var jwtAudience: String?
    /// What roles of other issuers' tokens mean.
    public var jwtRoles: [RoleMapping] = []
    /// The file with the services' API keys.
    public var apiKeys: String?
    /// The origins whose pages may connect, exact; empty: the gateway's own only.
    public var allowOrigins: [String] = []
    /// The proxies whose word on the client's address is believed.
    public var trustProxies: [CIDR] = []
    /// Which listeners expect a PROXY header.
    public var proxyProtocol = ProxyProtocol.off
    /// Reactor threads, 0...1024; 0 means one for each core.
    public var shards = 0
    /// The form of log lines.
    public var log = LogFormat.text
    /// The least important level that is logged.
    public var logLevel = LogLevel.info
    /// The file of the access log, `-` for standard output; `nil`: none.
    public var accessLog: String?
    /// Whether the node is ready while one master of a cluster at least is proven.
    public var readyPartial = false
    /// Where the bound addresses are written once everything listens.
    public var readyFile: String?
    /// Every limit; `--drain-seconds` is ``Limits/drainMs`` here.
    public var limits = Limits()
    /// The policy of each namespace that exists.
    public var namespaces = NamespacePolicy.defaults
    /// What WebSockets bring with them, by path.
    public var sockets = SocketRules.defaults
    /// What the node does wrong on purpose.
    public var testFault = TestFault.none
    /// Where clients of Socket.IO connect.
    public var socketIOPath = "/socket.io"
    /// Namespaces of Socket.IO beside those that every gateway has.
    public var socketIONamespaces: [String] = []
    /// Whether `permessage-deflate` is agreed on.
    public var deflate = false
    /// Bytes from which on a message is deflated.
    public var deflateBytesMin = 512
    /// Whether `check` tells what an existing deployment must change.
    public var showsUpgrade = false
    /// Whether `/echo` is served.
    public var echo = false
    /// Whether clients may connect without a token.
    public var anonymous = true
    /// What is in effect and where it was set, secrets masked; empty for settings made by code.
    public var report = SettingsReport()

    /// The defaults; without a listener.
    public init() {}

    /// The maker of names.
    public var keys: Keys {
        Keys(prefix: Array(redisPrefix.utf8), layout: SettingURL.isCluster(redis) ? .tagged : redisLayout)
    }

    /// The config file, where the password of Redis is in it; `nil` where it is not.
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
    /// Reads what passed its checks.
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
        tlsCert = values.text("tls-cert")
        tlsKey = values.text("tls-key")
        tlsTicketKeyFile = values.text("tls-ticket-key-file")
        // The texts passed the same readers before, so none is left out.
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
        testFault = values.choice("test-fault", default: testFault)
        socketIOPath = values.text("socketio-path") ?? socketIOPath
        socketIONamespaces = values.texts("socketio-namespace")
        deflate = values.boolean("deflate", default: deflate)
        deflateBytesMin = values.integer("deflate-min-bytes") ?? deflateBytesMin
        showsUpgrade = values.boolean("upgrade", default: false)
        echo = values.boolean("echo", default: echo)
        anonymous = values.boolean("anonymous", default: anonymous)
        report = SettingsReport(values, file)
    }
}
