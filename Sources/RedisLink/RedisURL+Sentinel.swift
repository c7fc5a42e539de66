import Core

/// The form of URL that names Sentinels.
extension RedisURL {
    /// The port of a Sentinel when the URL has none.
    static let sentinelPortDefault = 26_379

    /// Reads the text behind `redis+sentinel://`.
    init(sentinel rest: ArraySlice<UInt8>, tls: Bool) throws(RedisURLError) {
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let slash = rest[..<mark].firstIndex(of: UInt8(ascii: "/")) ?? mark
        let (user, password, hosts) = try RedisURL.credentials(rest[..<slash])
        var sentinels: [SentinelGroup.Address] = []
        for text in hosts.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let (host, port) = try RedisURL.address(text, portDefault: RedisURL.sentinelPortDefault)
            let address = SentinelGroup.Address(host: host, port: port)
            // A Sentinel that is named twice would have two votes.
            guard !sentinels.contains(address), sentinels.count < SentinelGroup.sentinelsMax else { throw .sentinels }
            sentinels.append(address)
        }
        let name = rest[slash..<mark].dropFirst()
        guard SentinelGroup.isName(name) else { throw .master }
        let query = try SentinelQuery(rest[mark...])
        let group = SentinelGroup(
            sentinels: sentinels, name: Array(name), tls: tls, user: query.user, password: query.password)
        self.init(endpoint: .sentinel(group), user: user, password: password, database: query.database)
    }

    /// The parameters behind the `?`.
    private struct SentinelQuery {
        var database = 0
        var user: [UInt8]?
        var password: [UInt8]?

        init(_ text: ArraySlice<UInt8>) throws(RedisURLError) {
            let pairs = text.dropFirst()
            guard !text.isEmpty else { return }
            var seen: Set<String> = []
            for pair in pairs.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
                guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .sentinelQuery }
                let (name, value) = (String(decoding: pair[..<equals], as: UTF8.self), pair[(equals + 1)...])
                guard seen.insert(name).inserted else { throw .sentinelQuery }
                switch name {
                case "db": database = try RedisURL.number(value, 0...RedisURL.numberMax, else: .database)
                case "sentinel-user": user = try RedisURL.decode(value)
                case "sentinel-password": password = try RedisURL.decode(value)
                default: throw .sentinelQuery
                }
            }
            if password?.isEmpty == true || user?.isEmpty == true || (user != nil && password == nil) {
                throw .credentials
            }
        }
    }
}
