import Bridge
import Commands
import Configuration
import Core
import Gateway
import RedisLink

extension UserInquiry {
    /// The questions whether the Redis user of these settings has the rights that a gateway needs.
    ///
    /// They cover the commands of served scripts, the keys of served namespaces, of scripts and of the whole
    /// installation, and the channels of topics, gateways and emitters.
    init(_ parts: NodeParts, _ settings: GatewaySettings) {
        let keys = settings.keys
        let prefix = String(decoding: keys.prefix, as: UTF8.self)
        func names(_ namespace: String) -> Names? {
            Topic(namespace: namespace.utf8, id: "check".utf8).map {
                Names(keys.channel($0), prefix + namespace + ":*")
            }
        }
        // The first are those of the installation's channels as well.
        var common = [Names(keys.layoutMark, prefix + "#*")]
        if parts.layout == .tagged { common.insert(Names(keys.nodes, prefix + "{sb}#*"), at: 0) }
        let catalogue = parts.library.catalogue
        let declared =
            (catalogue.commands + catalogue.refreshes).flatMap(\.keys) + catalogue.states.values.flatMap(\.keys)
        let topics = Set(settings.namespaces.keys)
        let bridge = BridgeSource(settings.bridge, keys)
        self.init(
            user: parts.redis.url.userName, prefix: prefix, scripts: parts.library.table.registry.quotedWords,
            keys: common + topics.union(declared.map(\.template.namespace)).sorted().compactMap(names),
            channels: common[..<1] + topics.sorted().compactMap(names)
                + (bridge?.channels ?? []).map { Names($0, String(decoding: $0, as: UTF8.self)) },
            patterns: bridge?.patterns ?? [], isSharded: parts.redis.topology.isSharded,
            waits: settings.redisWait > 0)
    }
}

extension ScriptRegistry {
    /// The words of capital letters in single quotes: scripts write the names of commands so.
    fileprivate var quotedWords: Set<String> {
        var words: Set<String> = []
        var word: [UInt8] = []
        for script in scripts {
            var isInside = false
            for byte in script.source {
                if byte == 0x27 {
                    if isInside && !word.isEmpty { words.insert(String(decoding: word, as: UTF8.self)) }
                    isInside = true
                    word.removeAll(keepingCapacity: true)
                } else if isInside {
                    isInside = ASCII.isUpper(byte)
                    if isInside { word.append(byte) }
                }
            }
        }
        return words
    }
}
