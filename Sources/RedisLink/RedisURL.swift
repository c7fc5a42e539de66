import Core

/// The address of Redis, and the credentials for it.
///
/// The forms are `redis://[user:password@]host[:port][/db]`, the same with `rediss://` for TLS, and
/// `unix:///path[?db=n&user=name&password=secret]`. A group that Sentinels watch is
/// `redis+sentinel://[user:password@]host[:port],.../NAME[?db=n&sentinel-user=name&sentinel-password=secret]`, with
/// `rediss+sentinel://` for TLS.
///
/// User, password and path are percent-decoded (RFC 3986 section 2.1). A description never shows a password.
public struct RedisURL: Equatable, Sendable {
    /// The kinds of address.
    public enum Endpoint: Equatable, Sendable {
        /// A host name or address, without brackets, to be resolved at each connect; TLS for `rediss`.
        case network(host: String, port: Int, tls: Bool)
        /// The path of a socket.
        case unix(path: [UInt8])
        /// Sentinels that know the address of a master.
        case sentinel(SentinelGroup)
        /// Nodes that know all masters of a cluster; TLS for `rediss+cluster`.
        case cluster([ClusterAddress], tls: Bool)
    }

    /// The address to connect to.
    public let endpoint: Endpoint
    /// The ACL user; `nil` is the default user.
    public let user: [UInt8]?
    /// The password; `nil` when the server requires none.
    ///
    /// Never log it.
    public let password: [UInt8]?
    /// The database to select, 0 by default.
    public let database: Int

    /// The port when the URL has none.
    public static let portDefault = 6_379
    private static let bytesMax = 2_048
    /// `sun_path` has 108 bytes with its NUL (unix(7)).
    private static let pathBytesMax = 107
    /// The greatest port and database.
    static let numberMax = 65_535

    /// Reads a URL strictly.
    public init(parsing text: String) throws(RedisURLError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= RedisURL.bytesMax, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .character }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
        if let rest = RedisURL.rest(bytes, after: "redis://") {
            try self.init(network: rest, tls: false)
        } else if let rest = RedisURL.rest(bytes, after: "rediss://") {
            try self.init(network: rest, tls: true)
        } else if let rest = RedisURL.rest(bytes, after: "unix://") {
            try self.init(unix: rest)
        } else if let rest = RedisURL.rest(bytes, after: "redis+sentinel://") {
            try self.init(sentinel: rest, tls: false)
        } else if let rest = RedisURL.rest(bytes, after: "rediss+sentinel://") {
            try self.init(sentinel: rest, tls: true)
        } else if let rest = RedisURL.rest(bytes, after: "redis+cluster://") {
            try self.init(cluster: rest, tls: false)
        } else if let rest = RedisURL.rest(bytes, after: "rediss+cluster://") {
            try self.init(cluster: rest, tls: true)
        } else {
            throw .scheme
        }
    }

    private init(network rest: ArraySlice<UInt8>, tls: Bool) throws(RedisURLError) {
        guard !rest.contains(UInt8(ascii: "?")) else { throw .query }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let (user, password, authority) = try RedisURL.credentials(rest[..<slash])
        let (host, port) = try RedisURL.address(authority, portDefault: RedisURL.portDefault)
        (self.user, self.password) = (user, password)
        endpoint = .network(host: host, port: port, tls: tls)
        let tail = rest[slash...].dropFirst()
        database = tail.isEmpty ? 0 : try RedisURL.number(tail, 0...RedisURL.numberMax, else: .database)
    }

    /// Makes a URL of its parts.
    init(endpoint: Endpoint, user: [UInt8]?, password: [UInt8]?, database: Int) {
        self.endpoint = endpoint
        self.user = user
        self.password = password
        self.database = database
    }

    /// The same user, password and database at another server.
    func at(_ endpoint: Endpoint) -> RedisURL {
        RedisURL(endpoint: endpoint, user: user, password: password, database: database)
    }

    private init(unix rest: ArraySlice<UInt8>) throws(RedisURLError) {
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let path = try RedisURL.decode(rest[..<mark])
        guard path.first == UInt8(ascii: "/"), path.count > 1, path.count <= RedisURL.pathBytesMax else { throw .path }
        var database: Int?
        var user: [UInt8]?
        var password: [UInt8]?
        let query = rest[mark...].dropFirst()
        if mark < rest.endIndex && query.isEmpty { throw .query }
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) where !query.isEmpty {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .query }
            let value = pair[(equals + 1)...]
            switch String(decoding: pair[..<equals], as: UTF8.self) {
            case "db" where database == nil:
                database = try RedisURL.number(value, 0...RedisURL.numberMax, else: .database)
            case "user" where user == nil: user = try RedisURL.decode(value)
            case "password" where password == nil: password = try RedisURL.decode(value)
            default: throw .query
            }
        }
        if password?.isEmpty == true || (user != nil && password == nil) { throw .credentials }
        endpoint = .unix(path: path)
        self.user = user?.isEmpty == true ? nil : user
        self.password = password
        self.database = database ?? 0
    }

    /// Whether the server, or the group, is reached by TLS.
    public var isEncrypted: Bool {
        switch endpoint {
        case .network(_, _, let tls), .cluster(_, let tls): tls
        case .sentinel(let group): group.tls
        case .unix: false
        }
    }

    /// The topology that the scheme names.
    public var topology: any RedisTopology {
        switch endpoint {
        case .network, .unix: SingleTopology()
        case .sentinel: SentinelTopology()
        case .cluster: ClusterTopology()
        }
    }

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

    /// The calls that begin a new connection: `AUTH` and `SELECT`, as far as the URL needs them.
    public var greeting: [RedisCall] {
        var calls: [RedisCall] = []
        if let password {
            var call = RedisCall("AUTH")
            if let user { call.append(user) }
            call.append(password)
            calls.append(call)
        }
        if database != 0 {
            var call = RedisCall("SELECT")
            call.append(decimal: database)
            calls.append(call)
        }
        return calls
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
