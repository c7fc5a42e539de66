extension RedisURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL for logs: the password is `***`, and user and path show only printable ASCII.
    public var description: String {
        let secret = password == nil ? "" : "***"
        let name = user.map(RedisURL.shown) ?? ""
        switch endpoint {
        case .network(let host, let port, let tls):
            let credentials = password == nil ? "" : name + ":" + secret + "@"
            let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[" + host + "]" : host
            return (tls ? "rediss://" : "redis://") + credentials + literal + ":\(port)/\(database)"
        case .unix(let path):
            let credentials = password == nil ? "" : "&user=" + name + "&password=" + secret
            return "unix://" + RedisURL.shown(path) + "?db=\(database)" + credentials
        case .cluster(let seeds, let tls):
            let credentials = password == nil ? "" : name + ":" + secret + "@"
            return (tls ? "rediss+cluster://" : "redis+cluster://") + credentials
                + seeds.map(\.description).joined(separator: ",")
        case .sentinel(let group):
            let credentials = password == nil ? "" : name + ":" + secret + "@"
            let hosts = group.sentinels.map(\.text).joined(separator: ",")
            let own = group.password == nil ? "" : "&sentinel-user=" + (group.user.map(RedisURL.shown) ?? "")
            return (group.tls ? "rediss+sentinel://" : "redis+sentinel://") + credentials + hosts + "/"
                + RedisURL.shown(group.name) + "?db=\(database)" + own + (own.isEmpty ? "" : "&sentinel-password=***")
        }
    }

    /// The user name for logging in, in printable ASCII: `default` when the URL names none.
    public var userName: String { user.map(RedisURL.shown) ?? "default" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the stored properties from `dump`, since the password is one of them.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    fileprivate static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { $0 > 0x20 && $0 < 0x7f ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

extension RedisURL.Endpoint {
    /// The address for logs and metrics: `host:port`, a socket's path, a Sentinel group's name, or several separated by
    /// commas.
    public var place: String {
        switch self {
        case .network(let host, let port, _): ClusterAddress(host: host, port: port).description
        case .unix(let path): RedisURL.shown(path)
        case .cluster(let seeds, _): seeds.map(\.description).joined(separator: ",")
        case .sentinel(let group): RedisURL.shown(group.name)
        }
    }
}
