import Core

/// Groups of commands that accept the same settings.
private let node: [CommandName] = [.gateway, .check]
private let nodeAndDev: [CommandName] = [.dev, .gateway, .check]
private let redisUsers: [CommandName] = [.gateway, .check, .worker, .courier, .top, .resetEpochs]
private let processes: [CommandName] = [.dev, .gateway, .check, .worker]
private let readersOfScripts = processes + [.types]
private let readersOfPacks = readersOfScripts + [.test]
private let runningProcesses = processes + [.courier]
private let readersOfLimits = runningProcesses + [.top, .resetEpochs]
private let namers = readersOfLimits + [.moveData]
private let nodeAndToken: [CommandName] = [.gateway, .check, .token]
private let client: [CommandName] = [.publish, .tail]

extension Setting {
    /// Every setting; flags, environment, config file, help and documentation all use this one table.
    public static let sections: [SettingSection] = [
        SettingSection(title: "Listeners", settings: listeners),
        SettingSection(title: "TLS", settings: tls),
        SettingSection(title: "Redis", settings: redis),
        SettingSection(title: "Who may connect", settings: rights),
        SettingSection(title: "Running", settings: running),
        SettingSection(title: "Limits and policy", settings: policy),
        SettingSection(title: "Services outside", settings: outside),
        SettingSection(title: "On this machine", settings: dev),
        SettingSection(title: "The token", settings: token),
        SettingSection(title: "Speaking to a gateway", settings: clients),
        SettingSection(title: "Watching all nodes", settings: watching),
        SettingSection(title: "After a restore", settings: restore),
        SettingSection(title: "Moving data", settings: moving),
    ]

    /// Every setting, in the order of ``sections``.
    public static let all: [Setting] = sections.flatMap(\.settings)

    /// The settings of one command, in table order.
    static func of(_ command: CommandName) -> [Setting] { all.filter { $0.commands.contains(command) } }

    /// The setting of that name; `nil` when there is none.
    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    private static let listeners: [Setting] = [
        Setting("listen", .hostPort, node, "Accept clients with TLS here; port 0 picks a free port."),
        Setting(
            "listen-plain", .hostPort, nodeAndDev,
            "Accept clients without TLS here, behind a proxy that terminates it."),
        Setting(
            "ops", .hostPort, nodeAndDev,
            "Serve metrics, health and the inspector here, apart from clients; without it the other listeners serve metrics"
                + " and health, to this machine only."),
        Setting(
            "inspector", .boolean, nodeAndDev, default: "false",
            "Serve the inspector (/inspector) on the listeners of clients, too; its data need an API key."),
        Setting(
            "reuse-port", .boolean, nodeAndDev, default: "false",
            "Share the addresses with other processes that say so, too; without it, a taken port is an error."),
        Setting(
            "worker-ops", .hostPort, [.worker],
            "Serve a worker's metrics and health here; without it a worker has no port."),
        Setting(
            "courier-ops", .hostPort, [.courier],
            "Serve a courier's metrics and health here; without it a courier has no port."),
        Setting(
            "trust-proxy", .addressRange, node, repeatable: true,
            "Believe the client address that proxies in this range forward."),
        Setting(
            "proxy-protocol", .choice(ProxyProtocol.allCases.map(\.rawValue)), node, default: "off",
            "Expect a PROXY header from trusted addresses on the TLS listener, the plain one, or both."),
        Setting(
            "allow-origin", .origin, nodeAndDev, default: "", repeatable: true,
            "Let pages of this origin connect; without it, only pages of the gateway's own names (docs/keys.md)."
        ),
    ]

    private static let tls: [Setting] = [
        Setting("tls-cert", .file, node, "Certificate chain in PEM, the gateway's own first."),
        Setting("tls-key", .file, node, "Private key of the certificate in PEM."),
        Setting(
            "tls-ticket-key-file", .file, node,
            "32 to 1024 random bytes that TLS ticket keys are derived from, the same on all nodes; without it, the private key."
        ),
    ]

    private static let redis: [Setting] = [
        Setting(
            "redis", .redisURL, redisUsers, default: "redis://127.0.0.1:6379", secret: true,
            "Redis to use: redis://, rediss:// (TLS), unix://, redis+sentinel:// or redis+cluster:// (docs/configuration.md)."
        ),
        Setting(
            "redis-wait", .integer(0...15), node, default: "0",
            "Acknowledge an event or command only when so many replicas of Redis have it."),
        Setting(
            "ready-partial", .boolean, node, default: "false",
            "Be ready on a Redis Cluster while one master at least is proven, though others are not."),
        Setting("redis-prefix", .keyPrefix, namers, "Put before every key and channel."),
        Setting(
            "redis-layout", .choice(KeyLayout.allCases.map(\.rawValue)), namers, default: "plain",
            "Name keys shop:42#log, or tagged: shop:{42}#log, as a Redis Cluster needs them."),
        Setting(
            "keyspace-events", .choice(KeyspaceEvents.allCases.map(\.rawValue)), [.worker], default: "auto",
            "Add what the worker needs to Redis's notify-keyspace-events, or never change it."),
        Setting(
            "data-time-file", .file, [.worker],
            "Remember here how new Redis's data are, so that older data put back meanwhile are told in the log."),
    ]

    private static let rights: [Setting] = [
        Setting(
            "jwt-secret-file", .keyFile, nodeAndToken, repeatable: true,
            "File with a shared secret of HS256 tokens, at least 32 bytes, and the key id that tokens name it by, if any."
        ),
        Setting(
            "jwt-key", .file, node, repeatable: true, "Public key in PEM that verifies RS256, ES256 or EdDSA tokens."),
        Setting(
            "mint-secret-file", .file, node, repeatable: true,
            "File with the secret of the tokens that scripts have the gateway sign; of several the first one signs."),
        Setting("jwks", .file, node, "File with a JSON Web Key Set that verifies tokens by their key id."),
        Setting("jwt-issuer", .text, nodeAndToken, "The `iss` that tokens must carry."),
        Setting("jwt-audience", .text, nodeAndToken, "The `aud` that tokens must carry."),
        Setting(
            "jwt-role", .roleMapping, node, repeatable: true,
            "Take tokens of this role for a user's, a service's or nobody's, e.g. `authenticated=user`, `anon=anonymous`."
        ),
        Setting(
            "api-keys", .file, node,
            "File of API keys, one `name:key` or `name:sha256:HEX` a line, behind it `:public`, `:read` or `:write` narrow it."
        ),
        Setting("anonymous", .boolean, nodeAndDev, default: "true", "Let clients connect without a token."),
    ]

    private static let running: [Setting] = [
        Setting(
            "config", .file, [.dev, .gateway, .check, .worker, .courier, .token, .top, .resetEpochs, .types, .test],
            places: [.flag, .environment],
            "JSON file with settings; flags and environment override it."),
        Setting(
            "shards", .integer(0...1_024), nodeAndDev, default: "0", "Reactor threads; 0 means one for each core."),
        Setting(
            "drain-seconds", .integer(1...86_400), nodeAndDev, default: "20",
            "Time to say goodbye to clients after SIGTERM; a short name for the limit drainMs."
        ).inDev(default: "0.5"),
        Setting(
            "trace-bytes-max", .integer(0...4_294_967_296), nodeAndDev, default: "16777216",
            "Bytes for what became of sessions in the last hour, 0 for nothing; a short name for the limit traceBytesMax."
        ),
        Setting(
            "ready-file", .file, runningProcesses,
            "Write the bound addresses here, as JSON, once everything is listening; a worker its pid, once it works."
        ).inDev(
            default: "ready.json in the state directory",
            "Write the bound addresses here, as JSON, once everything is listening."),
        Setting(
            "log", .choice(LogFormat.allCases.map(\.rawValue)), runningProcesses, default: "text",
            "Form of the log on standard error."
        ).inDev("Form of the log, dev.log in the state directory; errors are on standard error, too."),
        Setting(
            "log-level", .choice(LogLevel.allCases.map(\.rawValue)), runningProcesses, default: "info",
            "The least important lines to log."),
        Setting(
            "access-log", .file, nodeAndDev,
            "Write a line for each request and each connection of a client to this file, `-` for standard output."),
        Setting(
            "socketio-path", .webPath, nodeAndDev, default: "/socket.io", "Serve clients of Socket.IO at this path."),
        Setting(
            "socketio-namespace", .webPath, nodeAndDev, default: "", repeatable: true,
            "Let clients of Socket.IO enter this namespace, beside `/` and those of the apps."),
        Setting(
            "bridge", .choice(BridgeKind.allCases.map(\.rawValue)), nodeAndDev, default: "off",
            "Publish the events that backends write to Redis by redis-emitter or python-socketio (docs/emitters.md)."),
        Setting(
            "deflate", .boolean, nodeAndDev, default: "false",
            "Agree on permessage-deflate with WebSocket clients that offer it."),
        Setting(
            "deflate-min-bytes", .integer(0...16_777_216), nodeAndDev, default: "512",
            "Deflate messages of at least this many bytes."),
        Setting(
            "echo", .boolean, nodeAndDev, default: "false",
            "Serve a WebSocket echo at /echo, for conformance suites; not for production."),
        Setting(
            "upgrade", .boolean, [.check], default: "false", places: .flag,
            "Print also what an existing deployment must change, with the commands."),
    ]

    private static let outside: [Setting] = [
        Setting(
            "services", .services, [.courier], places: .file,
            "Services that a courier asks, by the names that scripts call them (docs/courier.md)."),
        Setting(
            "webhooks", .webhooks, [.dev, .courier], places: .file,
            "Receivers that a courier sends signed events to (docs/courier.md)."),
        Setting(
            "outside-ca", .file, [.dev, .courier],
            "Trust the authorities of this PEM file for everything outside, instead of the system's."),
        Setting(
            "outside-proxy", .outsideURL, [.courier],
            "Reach everything outside through this HTTP proxy; the environment's own words for one are not heeded."),
        Setting(
            "apns-key-file", .file, [.courier],
            "Push to Apple's devices: the private key (.p8) that Apple gave your team (docs/push.md)."),
        Setting("apns-key-id", .letters(32), [.courier], "The id of that key, as Apple shows it."),
        Setting("apns-team", .letters(32), [.courier], "The id of your team at Apple."),
        Setting("apns-topic", .bundleID, [.courier], "The bundle id of the app whose devices are pushed to."),
        Setting(
            "apns-url", .serviceURL, [.courier],
            "Send pushes here instead of to Apple, whatever a device's environment; for tests."),
        Setting(
            "jwks-url", .serviceURL, [.courier],
            "Fetch a JSON Web Key Set from here into --jwks-file, which gateways read (docs/courier.md)."),
        Setting(
            "jwks-file", .file, [.courier], "The file that a fetched key set is written to: --jwks of the gateways."),
        Setting(
            "only-check", .boolean, [.courier], default: "false", places: .flag,
            "Say what is wrong with settings, files and Redis, and end; 0 when nothing is."),
    ]

    private static let policy: [Setting] = [
        Setting(
            "packs", .packs, readersOfPacks, default: "barbershop",
            "Serve these built-in packs of scripts, separated by commas; `all`, or `none` (docs/scripts/packs.md)."
        ).inDev(default: "all"),
        Setting(
            "scripts", .directory, readersOfScripts,
            "Serve the commands of this directory's Lua files beside the built-in ones (lua/README.md)."
        ).inDev(
            "Serve the commands of this directory's Lua files beside the built-in ones, and read them again when one changes."
        ),
        Setting(
            "pack-number", .text, readersOfPacks, repeatable: true,
            "Choose a number of a pack, as in messaging.TEXT_MAX=5000 (docs/scripts/packs.md); the same on all processes."
        ),
        Setting("limit", .limit, readersOfLimits, repeatable: true, "Change a limit; docs/limits.md lists them."),
        Setting(
            "namespaces", .namespaces, readersOfPacks, default: "the apps' namespaces", places: .file,
            "Who may subscribe and publish in each namespace, and what it keeps."),
        Setting(
            "sockets", .sockets, nodeAndDev, default: "the apps' paths", places: .file,
            "What a WebSocket at a path joins by itself, and what its client need not say."),
    ]

    private static let dev: [Setting] = [
        Setting("port", .integer(0...65_535), [.dev], default: "8443", "Port of the gateway on this machine."),
        Setting("demo", .boolean, [.dev], default: "true", "Fill a demo shop with simulated traffic."),
        Setting(
            "people", .boolean, [.dev], default: "true", "Let simulated people answer on the tabs of the demo's page."),
        Setting(
            "fresh", .boolean, [.dev], default: "false", places: .flag,
            "Begin with an empty Redis: delete the data that the run before has left in the state directory."),
        Setting(
            "webhook", .serviceURL, [.dev], repeatable: true,
            "Send the events of all topics that have a log to this receiver, signed with webhook-secret in the state directory."
        ),
        Setting("redis-server", .file, [.dev, .test], default: "redis-server", "The Redis server program to start."),
        Setting(
            "filter", .text, [.test], places: .flag,
            "Play only the cases with this text in their names; capitals do not count."),
        Setting(
            "state", .directory, [.dev, .token, .publish, .tail], default: ".switchboard",
            "Directory of dev's certificate, secrets and data."),
    ]

    private static let token: [Setting] = [
        Setting("user", .text, [.token], places: .flag, "The `sub` of the token: whom it names."),
        Setting(
            "role", .choice(TokenSettings.Role.allCases.map(\.rawValue)), [.token], default: "user", places: .flag,
            "What the bearer is."),
        Setting("ttl", .duration, [.token], default: "1h", places: .flag, "How long the token is valid."),
        Setting(
            "topics", .topicPattern, [.token], repeatable: true, places: .flag,
            "Grant this topic, or all of a namespace with `order:*`."),
        Setting("key", .file, [.token], places: .flag, "Sign with this private key in PEM instead of a shared secret."),
        Setting("kid", .text, [.token], places: .flag, "Key id to put in the header; goes with --key."),
    ]

    private static let watching: [Setting] = [
        Setting(
            "once", .boolean, [.top], default: "false", places: .flag,
            "Print once and end: 0 when a gateway has answered, 1 when none has, or Redis cannot be used."),
        Setting(
            "json", .boolean, [.top], default: "false", places: .flag,
            "Print JSON, one line for each answer, instead of a screen."),
        Setting(
            "interval", .integer(1...3_600), [.top], default: "2", places: .flag, "Seconds between two answers."),
    ]

    private static let restore: [Setting] = [
        Setting(
            "dry-run", .boolean, [.resetEpochs, .moveData], default: "false", places: .flag,
            "Change nothing; count what would be done."),
        Setting(
            "again", .boolean, [.resetEpochs], default: "false", places: .flag,
            "Reset also what was reset since Redis was started."),
    ]

    private static let moving: [Setting] = [
        Setting("from", .redisURL, [.moveData], places: .flag, secret: true, "The Redis that has the keys."),
        Setting(
            "to", .redisURL, [.moveData], places: .flag, secret: true,
            "The Redis that gets them; the same one renames them."),
    ]

    private static let clients: [Setting] = [
        Setting(
            "url", .gatewayURL, client, default: "the running dev gateway", places: [.flag, .environment],
            secret: true,
            "The gateway, e.g. https://gateway.example:8443."),
        Setting(
            "ca", .file, client, places: [.flag, .environment],
            "Trust the certificates of this PEM file instead of the system's."),
        Setting(
            "insecure", .boolean, client, default: "false", places: .flag,
            "Do not verify the gateway's certificate."),
        Setting(
            "api-key-file", .file, [.publish], places: [.flag, .environment],
            "File with the API key of the publishing service."),
        Setting("id", .messageID, [.publish], places: .flag, "Idempotency key: a repeated publish stores nothing."),
        Setting(
            "token-file", .file, [.tail], places: [.flag, .environment],
            "File with the token to authenticate with; without it, anonymous."),
        Setting(
            "since", .position, [.tail], places: .flag, "Print the events after this position first; one topic only."),
        Setting("count", .integer(1...1_000_000_000), [.tail], places: .flag, "Stop after this many events."),
    ]
}
