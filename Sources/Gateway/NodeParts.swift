public import Commands
public import Configuration
public import Connections
public import Core
import Dialects
public import EventLogs
import Glibc
public import Operations
import Reactors
public import RedisLink
public import Rights
public import Service
import WebPages

/// The parts of a node that can be invalid: files read, keys parsed, scripts assembled, addresses bound.
public struct NodeParts: Sendable {
    /// The servers of Redis, with password and TLS read.
    public let redis: RedisTarget
    /// The form of key names: plain, or tagged for a cluster.
    public let layout: KeyLayout
    /// The scripts of the served packs, assembled for the layout.
    public let library: ScriptLibrary
    /// The scripts that the gateway calls for itself.
    public let scripts: EventLogScripts
    /// The namespaces' rules for topics.
    public let access: AccessPolicy
    let origins: OriginPolicy
    /// Keys of tokens and services, and the certificate.
    public let keys: CallerGate.Keys
    /// The TLS listener's context; `nil` without a certificate.
    public let tls: TLSContext?
    let shardCount: Int
    /// The time by which the node decides.
    let clock = NodeClock()

    /// Reads and parses everything that the settings name; throws the first problem.
    public init(_ settings: GatewaySettings) throws(StartProblem) {
        var redis = try RedisTarget.reading(settings.redis, limits: settings.limits)
        redis.layout = LayoutGuard(settings.keys)
        redis.seal = RunSealSettings(settings.keys, settings.limits)
        self.redis = redis
        layout = settings.keys.layout
        library = try ScriptLibrary(
            packs: settings.packs, directory: settings.scripts, namespaces: settings.namespaces.keys,
            reservedPaths: settings.sockets.keys.filter { !$0.contains("{") }
                + [settings.socketIOPath, "/echo", "/demo"] + WebPages.files.keys,
            numbers: settings.packNumbers, isSharded: redis.topology.isSharded)
        scripts = try EventLogScripts(library)
        do {
            access = try AccessPolicy(settings.namespaces)
            origins = try OriginPolicy(allowing: settings.allowOrigins)
        } catch {
            throw StartProblem(error.description)
        }
        tls = try NodeParts.tls(settings, replacing: nil)
        keys = CallerGate.Keys(authenticator: try NodeParts.authenticator(settings), certificate: tls)
        shardCount = min(settings.shards > 0 ? settings.shards : max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 64)
    }

    /// The settings for calls of commands.
    public func commandSettings(_ settings: GatewaySettings) -> CommandSettings {
        CommandSettings(
            keys: settings.keys, policies: settings.namespaces,
            outbox: OutboxRoom(laneMax: settings.limits.outboxMax, payerMax: settings.limits.outboxPayerMax),
            doneSeconds: settings.limits.idempotencySeconds,
            membersMax: settings.limits.membersMax, callsMax: settings.limits.callsMax,
            answerLimits: settings.limits.answers, answerBytesMax: settings.limits.answerBytesMax,
            nowMs: { [clock] in clock.wallMs })
    }

    /// Reads the files of tokens and API keys; also for a reload.
    static func authenticator(_ settings: GatewaySettings) throws(StartProblem) -> Authenticator {
        var keys = TokenKeys()
        var apiKeys = APIKeys()
        var grants = GrantKeys()
        var file = ""
        do {
            let issuer = settings.jwtIssuer.map { Array($0.utf8) }
            for secret in settings.jwtSecretFiles {
                file = secret.path
                try keys.addSecret(try read(file), keyID: secret.keyID.map { Array($0.utf8) }, issuer: issuer)
            }
            for path in settings.jwtKeys {
                file = path
                _ = try keys.addPublicKeys(try read(path), issuer: issuer)
            }
            if let path = settings.jwks {
                file = path
                _ = try keys.addJWKS(try read(path), issuer: issuer)
            }
            for path in settings.mintSecretFiles {
                file = path
                try grants.addSecret(try read(path))
            }
            if let path = settings.apiKeys {
                file = path
                apiKeys = try APIKeys(file: try read(path))
            }
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(file): \(error)")
        }
        let rules = TokenRules(
            tokenBytesMax: settings.limits.tokenBytesMax, leewaySeconds: settings.limits.tokenLeewaySeconds,
            issuer: settings.jwtIssuer.map { Array($0.utf8) }, audience: settings.jwtAudience.map { Array($0.utf8) },
            roles: Dictionary(
                settings.jwtRoles.map { (Array($0.name.utf8), TokenRole(rawValue: $0.role.rawValue) ?? .anonymous) },
                uniquingKeysWith: { _, last in last }))
        return Authenticator(verifier: TokenVerifier(keys: keys, rules: rules, grants: grants), apiKeys: apiKeys)
    }

    /// Reads certificate, key and ticket secret; also for a reload, which replaces an earlier context.
    ///
    /// `nil` without a certificate.
    static func tls(_ settings: GatewaySettings, replacing previous: TLSContext?) throws(StartProblem) -> TLSContext? {
        guard let certificate = settings.tlsCert, let key = settings.tlsKey else { return nil }
        var secret: [UInt8] = []
        if let path = settings.tlsTicketKeyFile {
            secret = try read(path)
            let sizes = TLSContext.ticketSecretBytes
            guard sizes.contains(secret.count) else {
                throw StartProblem(
                    "\(path): must have \(sizes.lowerBound) to \(sizes.upperBound) bytes, not \(secret.count)")
            }
        }
        do {
            let files = TLSContext.ServerFiles(certificate: certificate, key: key, ticketSecret: secret)
            return try TLSContext(server: files, replacing: previous)
        } catch {
            throw StartProblem(error.description)
        }
    }

    private static func read(_ path: String) throws(StartProblem) -> [UInt8] {
        do {
            return try Files.read(path, bytesMax: 4 << 20)
        } catch {
            throw StartProblem("\(path): \(error)")
        }
    }
}
