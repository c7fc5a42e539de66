import Commands
import Core
import Testing

@testable import Worker

@Suite struct KeyspacePatternTests {
    private func pattern(_ trigger: String, prefix: String = "", layout: KeyLayout = .plain, database: Int = 0) throws
        -> KeyspacePattern
    {
        let text = """
            -- @refresh  \(trigger)
            -- @summary  A test.
            -- @arg      shopId id
            -- @key      own \(trigger)
            -- @cost     O(1)
            """
        let file = ScriptFile(name: "test", path: "test.lua", bytes: Array(text.utf8))
        let catalogue = try Catalogue(embedded: [], operators: [file], namespaces: ["shop"], reservedPaths: [])
        let template = try #require(catalogue.refreshes.first?.refresh?.triggers.first)
        return KeyspacePattern(template, keys: Keys(prefix: Array(prefix.utf8), layout: layout), database: database)
    }

    @Test func onTaggedNamesIDsStandInBraces() throws {
        let pattern = try pattern("shop:{shopId}#bookings", prefix: "p:", layout: .tagged)
        #expect(text(pattern.glob) == "__keyspace@0__:p:shop:{*}#bookings")
        #expect(text(pattern.id(ofKey: Array("p:shop:{a:42}#bookings".utf8))) == "a:42")
        for key in ["p:shop:42#bookings", "p:shop:{42}#bookings#x", "p:shop:{42#bookings", "shop:{42}#bookings"] {
            #expect(pattern.id(ofKey: Array(key.utf8)) == nil, "\(key)")
        }
    }

    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test func globs() throws {
        #expect(try text(pattern("shop:{shopId}#bookings").glob) == "__keyspace@0__:shop:*#bookings")
        #expect(try text(pattern("leaderboard:{shopId}").glob) == "__keyspace@0__:leaderboard:*")
        #expect(
            try text(pattern("shop:{shopId}#bookings", prefix: "a.b:", database: 7).glob)
                == "__keyspace@7__:a.b:shop:*#bookings")
        #expect(text(KeyspacePattern.escaped(Array("a*b?[c]\\^".utf8))) == "a\\*b\\?\\[c\\]\\\\\\^")
    }

    @Test(arguments: [
        ("p:shop:42#bookings", "42"), ("p:shop:a:b#bookings", "a:b"), ("shop:42#bookings", nil),
        ("p:shop:42#bookings#x", nil), ("p:shop:42", nil), ("p:shop:#bookings", nil), ("p:shop:a b#bookings", nil),
        ("p:shops:42#bookings", nil), ("p:shop:42#booking", nil), ("p:x:shop:42#bookings", nil), ("", nil),
    ]) func idsAreReadStrictly(key: String, id: String?) throws {
        #expect(try text(pattern("shop:{shopId}#bookings", prefix: "p:").id(ofKey: Array(key.utf8))) == id)
    }

    @Test func fixedNamesOfOtherSystems() throws {
        let pattern = try pattern("leaderboard:{shopId}")
        #expect(text(pattern.id(ofKey: Array("leaderboard:c1".utf8))) == "c1")
        #expect(pattern.id(ofKey: Array("leaderboard:c1#log".utf8)) == nil)
    }

    @Test func channelsNameTheirKey() {
        #expect(text(KeyspacePattern.key(ofChannel: Array("__keyspace@3__:a:b".utf8), database: 3)) == "a:b")
        #expect(KeyspacePattern.key(ofChannel: Array("__keyspace@30__:a".utf8), database: 3) == nil)
        #expect(KeyspacePattern.key(ofChannel: Array("#outbox".utf8), database: 3) == nil)
    }
}
