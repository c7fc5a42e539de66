/// A fault of a Redis URL; the message never repeats the URL, which may hold a password.
public enum RedisURLError: Error, Equatable, Sendable, CaseIterable {
    /// The scheme is missing or unknown.
    case scheme
    /// The URL is too long or has a byte that must be percent-encoded.
    case character
    /// A `%` without two hexadecimal digits, or an encoded NUL.
    case percent
    /// A `#` with a fragment.
    case fragment
    /// A user without password, or an empty password.
    case credentials
    /// The host is missing or malformed.
    case host
    /// The port is not 1...65535.
    case port
    /// The database is not 0...65535.
    case database
    /// The socket's path is missing, relative or too long.
    case path
    /// A query after a network URL, or an unknown, repeated or malformed parameter.
    case query
    /// More than fifteen Sentinels, or one named twice.
    case sentinels
    /// The name of the master is missing or malformed.
    case master
    /// An unknown, repeated or malformed parameter behind the name of a master.
    case sentinelQuery
    /// More than 32 nodes of a cluster, or one named twice.
    case seeds
    /// A path or a query behind the nodes of a cluster.
    case clusterPath

    /// The fault and its remedy.
    public var message: String {
        switch self {
        case .scheme:
            "a Redis URL begins with redis://, rediss://, unix://, redis+sentinel://, rediss+sentinel://, redis+cluster:// or rediss+cluster://"
        case .character: "a Redis URL is printable ASCII of at most 2048 bytes; percent-encode everything else"
        case .percent: "in a Redis URL % is followed by two hexadecimal digits and never encodes NUL; write % as %25"
        case .fragment: "a Redis URL has no fragment; write # as %23"
        case .credentials: "the Redis URL has a user without password; write user:password@, or :password@"
        case .host: "the Redis URL needs a host: a name, an IPv4 address, or an IPv6 address in brackets"
        case .port: "the port of the Redis URL must be 1...65535"
        case .database: "the database of the Redis URL must be a number 0...65535, as in redis://host/1"
        case .path:
            "the unix:// URL needs the absolute path of a socket of at most 107 bytes, as in unix:///run/redis.sock"
        case .query: "only unix:// URLs take a query, of db, user and password, each at most once"
        case .sentinels: "a redis+sentinel:// URL names at most 15 Sentinels, each once"
        case .master:
            "a redis+sentinel:// URL ends with the name that the Sentinels give the master, letters, digits and .-_, as in redis+sentinel://a,b,c/mymaster"
        case .sentinelQuery:
            "a redis+sentinel:// URL takes db, sentinel-user and sentinel-password behind its ?, each at most once"
        case .seeds: "a redis+cluster:// URL names at most 32 nodes, each once"
        case .clusterPath: "a redis+cluster:// URL ends with its nodes: a cluster has one database, 0"
        }
    }
}
