import Commands
import Core

/// The keyspace events to subscribe to for one template, and the mapping from a reported key to its id.
struct KeyspacePattern {
    private let template: Template
    private let keys: Keys
    private let channelPrefix: [UInt8]

    /// The keys that `template` makes in one database.
    init(_ template: Template, keys: Keys, database: Int) {
        self.template = template
        self.keys = keys
        channelPrefix = KeyspacePattern.channelPrefix(database: database)
    }

    /// The prefix of the channel of a key's events, before the key.
    static func channelPrefix(database: Int) -> [UInt8] { Array("__keyspace@\(database)__:".utf8) }

    /// The glob-style pattern of the channels; it may match more than the template makes.
    var glob: [UInt8] {
        var glob = KeyspacePattern.escaped(channelPrefix + keys.prefix)
        glob.append(text: template.namespace + ":" + keys.anyID)
        if let facet = template.facet { glob.append(text: "#" + facet) }
        if template.memberVariable != nil { glob.append(text: "#*") }
        return glob
    }

    /// The id of a key; `nil` for a key that the template does not make.
    func id(ofKey key: [UInt8]) -> [UInt8]? { template.id(inKey: key, keys) }

    /// The key that a channel reports; `nil` for another channel.
    static func key(ofChannel channel: [UInt8], database: Int) -> [UInt8]? {
        let prefix = channelPrefix(database: database)
        guard channel.starts(with: prefix) else { return nil }
        return Array(channel.dropFirst(prefix.count))
    }

    /// Escapes the bytes that are special in PSUBSCRIBE.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { Array("*?[]\\^".utf8).contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }
}
