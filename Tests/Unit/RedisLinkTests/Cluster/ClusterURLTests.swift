import RedisLink
import Testing

@Suite struct ClusterURLTests {
    @Test func aURLOfAClusterNamesNodes() throws {
        let url = try RedisURL(parsing: "rediss+cluster://app:p%2C@a,b:5000,[::1]:5001")
        let nodes = [("a", 6_379), ("b", 5_000), ("::1", 5_001)].map { ClusterAddress(host: $0.0, port: $0.1) }
        #expect(url.endpoint == .cluster(nodes, tls: true))
        #expect(url.user == bytes("app"))
        #expect(url.password == bytes("p,"))
        #expect(url.topology.isSharded && url.isEncrypted)
        #expect(url.description == "rediss+cluster://app:***@a:6379,b:5000,[::1]:5001")
        #expect(!(try RedisURL(parsing: "redis://a")).topology.isSharded)
    }

    @Test(
        arguments: [
            ("redis+cluster://", .host), ("redis+cluster://a,", .host), ("redis+cluster://a,a:6379", .seeds),
            ("redis+cluster://a/0", .clusterPath), ("redis+cluster://a?db=0", .clusterPath),
            ("redis+cluster://a:0", .port), ("redis+cluster://u@a", .credentials),
            ("redis+cluster://" + (1...33).map { "h\($0)" }.joined(separator: ","), .seeds),
        ] as [(String, RedisURLError)])
    func aMalformedURLOfAClusterIsRefused(_ text: String, _ error: RedisURLError) {
        #expect(throws: error) { try RedisURL(parsing: text) }
    }
}
