import Core

/// The comparison of nodes that should be configured alike.
extension GatewaySettings {
    /// A digest of the settings that decide what clients get: 16 hexadecimal digits.
    ///
    /// Addresses, files, secrets and the number of shards are left out, since they may differ between nodes.
    public var configHash: String {
        var lines = [
            "redis \(redisPrefix) \(redisLayout) \(redisWait)", "packs \(packs.sorted())",
            "numbers \(packNumbers.sorted())",
            "issuer \(jwtIssuer ?? "") \(jwtAudience ?? "")", "roles \(jwtRoles)", "origins \(allowOrigins.sorted())",
            "anonymous \(anonymous)", "socket.io \(socketIOPath)", "deflate \(deflateBytesMin)",
        ]
        lines += Limits.table.map { "limit \($0.name) \(limits[keyPath: $0.path])" }
        lines += namespaces.map { "namespace \($0.key) \(GatewaySettings.text($0.value))" }.sorted()
        lines += sockets.map { "socket \($0.key) \(GatewaySettings.text($0.value))" }.sorted()
        let digits = String(StableHash.of(lines.joined(separator: "\n").utf8), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func text(_ policy: NamespacePolicy) -> String {
        let conflate = policy.conflate.map { "\($0.key)=\($0.value)" }.sorted()
        return "\(policy.subscribe) \(policy.publish) \(policy.logEventsMax) \(policy.logSeconds) "
            + "\(policy.logBytesMax ?? -1) \(policy.slow) \(conflate) "
            + "\(policy.follows) \(policy.presence) \(policy.flatten)"
    }

    private static func text(_ rules: SocketRules) -> String {
        let alias = rules.alias.map { "\($0.key)=\($0.value)" }.sorted()
        let first = rules.first.map { "\($0.key)=\($0.value)" }.sorted()
        return "\(rules.join) \(alias) \(rules.fill) \(rules.foldsPath) \(first)"
    }
}
