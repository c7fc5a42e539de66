import Core

/// Checks that the settings of a node agree; each problem is reported on the setting that needs the other.
struct CrossChecks {
    /// The values to check; problems are recorded in them.
    private(set) var values: SettingValues

    /// Checks the values for their command.
    static func checked(_ values: SettingValues) -> SettingValues {
        var checks = CrossChecks(values: values)
        switch values.command {
        case .gateway, .check:
            checks.listeners()
            checks.proxies()
            checks.credentials()
            checks.limits()
        case .courier:
            checks.push()
            checks.keySet()
            checks.limits()
        case .dev, .worker: checks.limits()
        case .moveData:
            for name in ["from", "to"] where !checks.values.has(name) {
                checks.values.problem(.command(CommandName.moveData.rawValue), "needs --\(name) URL")
            }
        default: break
        }
        return checks.values
    }

    private mutating func listeners() {
        // An author of scripts checks them without a gateway that runs them.
        let isForScripts = values.command == .check && values.has("scripts")
        if !values.has("listen") && !values.has("listen-plain") && !isForScripts {
            values.problem(
                .command(values.command.rawValue),
                "nothing to listen on; set --listen HOST:PORT (TLS) or --listen-plain HOST:PORT (behind a proxy)")
        }
        if values.has("listen") {
            let missing = ["tls-cert", "tls-key"].filter { !values.has($0) }
            if !missing.isEmpty {
                let flags = missing.map { "--" + $0 }.joined(separator: " and ")
                values.problem(values.source("listen"), "TLS needs " + flags)
            }
        }
        let names = ["listen", "listen-plain", "ops"]
        for (index, name) in names.enumerated() {
            guard let address = values.hostPort(name), address.port != 0 else { continue }
            for other in names[..<index] where values.hostPort(other) == address {
                values.problem(values.source(name), "the same address as \(other): \(address)")
            }
        }
    }

    private mutating func proxies() {
        let mode: ProxyProtocol = values.choice("proxy-protocol", default: .off)
        guard mode != .off else { return }
        let source = values.source("proxy-protocol")
        if !values.has("trust-proxy") {
            values.problem(source, "needs --trust-proxy: a header is taken from trusted addresses only")
        }
        if mode.onTLS && !values.has("listen") { values.problem(source, "\(mode.rawValue) needs --listen") }
        if mode.onPlain && !values.has("listen-plain") {
            values.problem(source, "\(mode.rawValue) needs --listen-plain")
        }
    }

    private mutating func credentials() {
        let verifiers = ["jwt-secret-file", "jwt-key", "jwks"]
        let canVerify = verifiers.contains { values.has($0) }
        if !values.boolean("anonymous", default: true) && !canVerify && !values.has("api-keys") {
            values.problem(
                values.source("anonymous"),
                "false leaves nobody who could connect; set --jwt-secret-file, --jwt-key, --jwks or --api-keys")
        }
        for name in ["jwt-issuer", "jwt-audience", "jwt-role"] where values.has(name) && !canVerify {
            values.problem(values.source(name), "no key verifies tokens; set --jwt-secret-file, --jwt-key or --jwks")
        }
        let roles = values.texts("jwt-role").compactMap { try? RoleMapping(parsing: $0).name }
        if Set(roles).count < roles.count {
            values.problem(values.source("jwt-role"), "one role is given two meanings")
        }
        if let jwks = values.text("jwks"), jwks.hasPrefix("https://") || jwks.hasPrefix("http://") {
            values.problem(values.source("jwks"), "expected a file; fetch the key set and name the file it is kept in")
        }
    }

    /// Checks that an APNs key has the names that it needs.
    private mutating func push() {
        let names = ["apns-key-file", "apns-key-id", "apns-team", "apns-topic"]
        let missing = names.filter { !values.has($0) }
        guard let given = (names + ["apns-url"]).first(where: { values.has($0) }), !missing.isEmpty else { return }
        values.problem(
            values.source(given), "pushes need " + missing.map { "--" + $0 }.joined(separator: " and ") + " too")
    }

    /// Checks that a fetched key set has a file.
    private mutating func keySet() {
        if values.has("jwks-url") != values.has("jwks-file") {
            let given = values.has("jwks-url") ? "jwks-url" : "jwks-file"
            values.problem(values.source(given), "--jwks-url and --jwks-file belong together")
        }
    }

    private mutating func limits() {
        shortName("drain-seconds", "drainMs", times: 1_000)
        shortName("trace-bytes-max", "traceBytesMax", times: 1)
        let limits = values.limits
        ordered("drainGraceMs", limits.drainGraceMs, "drainMs", limits.drainMs)
        ordered("webhookMs", limits.courier.webhookMs, "webhookLeaseMs", limits.courier.webhookLeaseMs)
        ordered("redisBackOffMinMs", limits.redisBackOffMinMs, "redisBackOffMaxMs", limits.redisBackOffMaxMs)
    }

    /// Sets a limit by its short name, unless a stronger place sets it.
    private mutating func shortName(_ name: String, _ limit: String, times factor: Int) {
        guard let value = values.integer(name) else { return }
        let source = values.source(name)
        if let other = values.limitSources[limit], other.precedence == source.precedence {
            values.problem(source, "says the same as the limit \(limit); set one of them")
        } else if (values.limitSources[limit]?.precedence ?? 0) < source.precedence {
            values.setLimit(limit, value * factor, source: source)
        }
    }

    private mutating func ordered(_ small: String, _ smallValue: Int, _ large: String, _ largeValue: Int) {
        guard smallValue > largeValue else { return }
        let source = values.limitSources[small] ?? values.limitSources[large] ?? .defaults
        values.problem(source, "\(small) (\(smallValue)) must not exceed \(large) (\(largeValue))")
    }
}
