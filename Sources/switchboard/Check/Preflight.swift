import Commands
import Configuration
import Connections
import Core
import Gateway
import Operations
import Reactors
import RedisLink
import Rights
import Service

/// The checks of `switchboard check`: files, keys, certificate, and the actual Redis.
enum Preflight {
    /// How serious a finding is.
    enum Verdict: String, Sendable {
        /// As it should be.
        case good = "ok"
        /// Works, with a consequence the operator should know.
        case doubtful = "warning"
        /// The gateway would not start, or not become ready.
        case wrong = "error"
    }

    /// One result of a check.
    struct Finding: Sendable, CustomStringConvertible {
        /// How serious it is.
        let verdict: Verdict
        /// The result and, unless it is good, its mend.
        let text: String

        /// One line such as `ok: the certificate is valid`.
        var description: String { "\(verdict.rawValue): \(text)" }

        init(_ verdict: Verdict, _ text: String) {
            self.verdict = verdict
            self.text = text
        }
    }

    /// The answers of Redis.
    struct Answers {
        /// The findings.
        var findings: [Finding]
        /// The servers' answers about rights; empty when no server could be used.
        var servers: [ServerRights] = []
        /// The live processes.
        var others: [NodeEntry] = []
    }

    /// The findings, and the resulting steps.
    struct Report: Sendable {
        /// All findings.
        var findings: [Finding]
        /// The changes that an existing deployment needs, line by line.
        var upgrade = UpgradeStep.unknown
    }

    /// Runs all checks; takes as long as Redis takes to answer, at most a few seconds.
    static func run(_ settings: GatewaySettings) -> Report {
        var findings: [Finding] = []
        let parts: NodeParts
        do {
            parts = try NodeParts(settings)
        } catch {
            // One finding for each line: scripts often have several mistakes at once.
            return Report(findings: error.description.split(separator: "\n").map { Finding(.wrong, String($0)) })
        }
        findings += scripts(parts.library, settings.scripts)
        if settings.mintSecretFiles.isEmpty { findings += minting(parts.library.catalogue) }
        if settings.listen == nil && settings.listenPlain == nil {
            findings.add(.doubtful, "nothing to listen on: a gateway needs --listen or --listen-plain")
        }
        findings += deployment(settings) + descriptors(settings.limits.connectionsMax)
        findings += SecretFiles.exposed(settings).map { path in
            Finding(.doubtful, "\(path) can be read by every user: chmod o= \(path)")
        }
        if let tls = parts.tls {
            let days = (tls.notAfter - Clock.wallMs() / 1_000) / 86_400
            let bound = settings.limits.certificateDays
            let text = "certificate valid for \(days) more days"
            findings.add(days < bound ? .doubtful : .good, days < bound ? text + ": renew it" : text)
        }
        let keys = parts.keys.authenticator.verifier.keys
        findings.append(
            keys.isEmpty
                ? Finding(.doubtful, "no JWT key: nobody can authenticate; give --jwt-secret-file, --jwt-key or --jwks")
                : Finding(.good, "\(keys.count) JWT keys"))
        let apiKeys = parts.keys.authenticator.apiKeys
        findings.append(
            apiKeys.count(for: .write) == 0
                ? Finding(.doubtful, "no API key: backends cannot publish over HTTP; give --api-keys")
                : Finding(.good, apiKeys.description))
        findings += anonymous(settings, parts.access, parts.library.catalogue)
        let redis =
            parts.redis.topology.isSharded ? cluster(parts, settings) : redis(parts, settings)
        let user = parts.redis.url.userName
        findings += redis.findings + judge(redis.servers, user: user) + silence(redis)
        guard !redis.servers.isEmpty else { return Report(findings: findings) }
        let facts = UpgradeStep.Facts(servers: redis.servers, user: user, others: redis.others)
        return Report(findings: findings, upgrade: UpgradeStep.report(facts))
    }

    /// Findings about the flags for proxies in front, where they contradict each other or are incomplete.
    static func deployment(_ settings: GatewaySettings) -> [Finding] {
        var findings: [Finding] = []
        let trusts = !settings.trustProxies.isEmpty
        if settings.listen != nil, settings.listenPlain == nil, trusts, !settings.proxyProtocol.onTLS {
            findings.add(
                .doubtful,
                "--trust-proxy without --proxy-protocol tls: a proxy that passes TLS through tells the client's address"
                    + " by a PROXY header only, and a header that is not expected fails every connection")
        }
        if let plain = settings.listenPlain, !isLocal(plain), !trusts {
            findings.add(
                .doubtful,
                "--listen-plain without --trust-proxy: all clients have the proxy's address, and share its limits")
        }
        if settings.listenPlain != nil, settings.allowOrigins.isEmpty {
            findings.add(
                .doubtful,
                "--listen-plain without --allow-origin: pages and apps that send the public address as their origin"
                    + " are refused; name it, e.g. --allow-origin https://gateway.example")
        }
        if settings.ops == nil, settings.listen != nil || settings.listenPlain != nil {
            findings.add(.doubtful, "no --ops: /readyz and /metrics are answered to this machine only")
        }
        if !settings.outside.isEmpty {
            let names = settings.outside.joined(separator: ", ")
            let text = "the file names \(names) for couriers, whose secrets are checked by "
            findings.add(.good, text + "`switchboard-courier --only-check` with the same file")
        }
        return findings
    }

    /// Whether the limit of file descriptors allows so many clients.
    private static func descriptors(_ connectionsMax: Int) -> [Finding] {
        guard let limit = Descriptors.allowed() else { return [] }
        guard DescriptorRoom(open: 0, limit: limit).isTooSmall(for: connectionsMax) else {
            return [Finding(.good, "\(limit) file descriptors, enough for connectionsMax=\(connectionsMax)")]
        }
        let text = "\(limit) file descriptors are too few for connectionsMax=\(connectionsMax): "
        return [Finding(.doubtful, text + DescriptorRoom.mend(connectionsMax))]
    }

    private static func isLocal(_ address: HostPort) -> Bool {
        address.host == "localhost" || IPAddress(text: Array(address.host.utf8))?.isLoopback == true
    }

    /// The scripts that the Redis of the settings cannot compile, and what else keeps it from running them.
    static func brokenScripts(_ parts: NodeParts, _ settings: GatewaySettings) -> [String] {
        redis(parts, settings).findings.filter { $0.verdict == .wrong }.map(\.text)
    }

    /// Counts the definitions in the headers; mistakes were reported before.
    private static func scripts(_ library: ScriptLibrary, _ directory: String?) -> [Finding] {
        let catalogue = library.catalogue
        let own = directory.map { directory in
            let files = (catalogue.commands + catalogue.refreshes).map(\.file) + catalogue.states.values.map(\.file)
            return "; \(files.count { $0.path.hasPrefix(directory + "/") }) scripts of \(directory)"
        }
        let counts = "\(catalogue.commands.count) commands, \(catalogue.refreshes.count) refreshes"
        return [Finding(.good, counts + (own ?? ""))]
            + catalogue.bodyMistakes.map { Finding(.wrong, $0.description) }
            + catalogue.hints.map { Finding(.doubtful, $0.description) }
            + catalogue.disabled.map { Finding(.doubtful, "the script \($0.name) is left out: \($0.reason)") }
    }

    /// The commands that are unavailable without a secret for signing tokens.
    private static func minting(_ catalogue: Catalogue) -> [Finding] {
        let minting = catalogue.commands.filter { $0.mint != nil }
        guard let first = minting.first else { return [] }
        let others = minting.count > 1 ? " and \(minting.count - 1) others have" : " has"
        return [
            Finding(
                .doubtful,
                "no --mint-secret-file: \(first.name) (\(first.file.path))\(others) tokens signed, and will be unavailable;"
                    + " give all gateways the same file of 32 random bytes or more")
        ]
    }

    /// Runs a command link on this thread until it is ready, refused, or late.
    private static func redis(_ parts: NodeParts, _ settings: GatewaySettings) -> Answers {
        let survey = RightsSurvey(parts, settings)
        do {
            let limits = settings.limits
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
            var found: ServerFacts?
            var replicas = ReplicaSettings()
            var broken: [Finding] = []
            var answers: [ServerRights] = []
            var nodes: [Finding] = []
            var others: [NodeEntry] = []
            let table = parts.library.table
            var target = parts.redis
            target.layout?.marks = false
            target.seal = nil
            let servers = try LocalServers(context, target, name: "switchboard-check")
            var link: CallLink?
            link = try CallLink(
                context, target, servers.directory, name: "switchboard-check", registry: table.registry,
                onBrokenScript: { name, failure in
                    let text = table[name]?.source.compileFault(failure.detail) ?? failure.detail
                    // A state provider is part of two scripts.
                    if !broken.contains(where: { $0.text == text }) { broken.add(.wrong, text) }
                },
                onReady: { facts in
                    func ask(_ name: String, _ take: @escaping (Int?) -> Void) {
                        link?.call(RedisCall("CONFIG", Array("GET".utf8), Array(name.utf8))) { result in
                            let value = (try? result.get()).flatMap { ServerFacts.config($0)?[Array(name.utf8)] }
                            take(value.flatMap { ASCII.decimal($0) })
                        }
                    }
                    if let link {
                        Preflight.ask(link, settings.keys, boundMs: limits.clockMs) { (others, nodes) = ($0, $1) }
                    }
                    ask("min-replicas-to-write") { replicas.leastReplicas = $0 }
                    ask("repl-backlog-ttl") { replicas.backlogSeconds = $0 }
                    // The link loads the operator's scripts first, so the answer arrives after each of them was tried.
                    link?.call(RedisCall("PING")) { result in
                        guard result.failure?.reaction != .reconnect, let link else { return }
                        found = facts
                        let master = servers.directory.map?.masters.first?.endpoint ?? parts.redis.url.endpoint
                        survey.ask(link, context, place: master.place) {
                            answers = $0
                            reactor.stop()
                        }
                    }
                })
            let timer = try ReactorTimer(reactor) { reactor.stop() }
            timer.set(atMs: reactor.nowMs + limits.redisConnectMs * 3 + limits.redisCallMs)
            reactor.run()
            let failure = link?.lastFailure
            survey.stop()
            link?.stop()
            link = nil
            let sentinels = sentinels(parts, servers)
            servers.stop()
            guard let facts = found else {
                let reason = failure.map { "\($0.metricLabel) \($0.detail)" } ?? "no answer"
                return Answers(
                    findings: sentinels + [Finding(.wrong, "Redis at \(parts.redis.url) cannot be used: \(reason)")])
            }
            let node = Finding(.wrong, "the server is a node of a cluster: name it by redis+cluster://")
            let said = judge(facts) + layout(parts) + judge(facts, replicas, wait: settings.redisWait) + nodes
            let findings = sentinels + said + broken + (facts.isNodeOfCluster ? [node] : [])
            return Answers(findings: findings, servers: answers, others: others)
        } catch {
            return Answers(findings: [Finding(.wrong, "cannot look at Redis: \(error)")])
        }
    }

    /// The findings about the Sentinels, where some watch the master.
    private static func sentinels(_ parts: NodeParts, _ servers: LocalServers) -> [Finding] {
        guard case .sentinel(let group) = parts.redis.url.endpoint else { return [] }
        return judge(group, servers.watch?.report ?? SentinelReport())
    }

    /// The key layout.
    static func layout(_ parts: NodeParts) -> [Finding] {
        [Finding(.good, "the keys have \(parts.layout.rawValue) names (--redis-layout)")]
    }

    /// The facts of a server and their consequences for the operator; `name` is its role.
    static func judge(_ facts: ServerFacts, as name: String = "a master") -> [Finding] {
        let version = facts.version.map { String($0) }.joined(separator: ".")
        var findings: [Finding] = []
        findings.append(
            facts.isAtLeast(major: 6, minor: 2)
                ? Finding(.good, "Redis \(version), \(name)")
                : Finding(.wrong, "Redis \(version) is too old: 6.2 or newer is needed"))
        if facts.evictsKeys {
            findings.add(.doubtful, "maxmemory-policy evicts keys, and with them logs: set it to noeviction")
        }
        if !facts.hasAppendOnlyFile {
            findings.add(.doubtful, "appendonly is off: a restart of Redis begins new epochs, and clients are told")
        }
        if facts.pausesSyncs {
            findings.add(
                .doubtful,
                "no-appendfsync-on-rewrite is yes: a restart of Redis begins new epochs, whatever appendfsync is")
        }
        return findings
    }
}

extension [Preflight.Finding] {
    /// Adds a finding.
    mutating func add(_ verdict: Preflight.Verdict, _ text: String) {
        append(Preflight.Finding(verdict, text))
    }
}
