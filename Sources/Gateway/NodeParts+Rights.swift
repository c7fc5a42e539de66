import Bridge
import Commands
public import Configuration
import Core
public import RedisLink

extension NodeParts {
    /// The questions about the Redis user: for each key of namespaces, scripts and gateways, and for each channel.
    public func userInquiry(_ settings: GatewaySettings) -> UserInquiry {
        let catalogue = library.catalogue
        let scripts = (catalogue.commands + catalogue.refreshes).map(\.keys) + catalogue.states.values.map(\.keys)
        let namespaces = Set(settings.namespaces.keys)
        let spaces = namespaces.union(scripts.joined().map(\.template.namespace)).sorted()
        let (own, bridge) = (common(settings.keys), BridgeSource(settings.bridge, settings.keys))
        return UserInquiry(
            user: redis.url.userName, prefix: String(decoding: settings.keys.prefix, as: UTF8.self),
            keys: own + spaces.compactMap { names($0, settings.keys) },
            channels: own[..<1] + namespaces.sorted().compactMap { names($0, settings.keys) }
                + (bridge?.channels ?? []).map { UserInquiry.Names($0, String(decoding: $0, as: UTF8.self)) },
            patterns: bridge?.patterns ?? [], isSharded: redis.topology.isSharded, waits: settings.redisWait > 0)
    }

    private func names(_ namespace: String, _ keys: Keys) -> UserInquiry.Names? {
        Topic(namespace: namespace.utf8, id: "check".utf8).map {
            UserInquiry.Names(keys.channel($0), String(decoding: keys.prefix, as: UTF8.self) + namespace + ":*")
        }
    }

    /// The names of the whole installation; the first are those of its channels as well.
    private func common(_ keys: Keys) -> [UserInquiry.Names] {
        let prefix = String(decoding: keys.prefix, as: UTF8.self)
        let plain = UserInquiry.Names(keys.layoutMark, prefix + "#*")
        return layout == .tagged ? [UserInquiry.Names(keys.nodes, prefix + "{sb}#*"), plain] : [plain]
    }
}
