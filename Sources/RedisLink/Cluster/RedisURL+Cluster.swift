import Core

/// The form of URL for nodes of a cluster: `redis+cluster://[user:password@]host[:port],...`.
extension RedisURL {
    /// The most nodes of one URL; each of them knows all others.
    static let seedsMax = 32

    /// Reads the text behind `redis+cluster://`.
    init(cluster rest: ArraySlice<UInt8>, tls: Bool) throws(RedisURLError) {
        let (user, password, hosts) = try RedisURL.credentials(rest)
        // A cluster has the database 0 and no other.
        guard !hosts.contains(UInt8(ascii: "/")), !hosts.contains(UInt8(ascii: "?")) else { throw .clusterPath }
        var seeds: [ClusterAddress] = []
        for text in hosts.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let (host, port) = try RedisURL.address(text, portDefault: RedisURL.portDefault)
            let address = ClusterAddress(host: host, port: port)
            guard !seeds.contains(address), seeds.count < RedisURL.seedsMax else { throw .seeds }
            seeds.append(address)
        }
        self.init(endpoint: .cluster(seeds, tls: tls), user: user, password: password, database: 0)
    }

    /// The nodes that it names; empty for every other form.
    var seeds: [ClusterAddress] {
        if case .cluster(let seeds, _) = endpoint { return seeds }
        return []
    }
}

extension RedisTarget {
    /// The same settings for one node of the cluster.
    public func at(_ address: ClusterAddress) -> RedisTarget {
        var target = self
        if case .cluster(_, let tls) = url.endpoint {
            target.url = url.at(.network(host: address.host, port: address.port, tls: tls))
        }
        return target
    }

    /// The directory for links to that node: it always names this node.
    public func directory(_ address: ClusterAddress) -> PrimaryDirectory { PrimaryDirectory(fixed: at(address).url) }
}
