import Commands
import Core
import TestSupport
import Testing

@testable import EventLogs

@Suite struct EventLogScriptsTests {
    @Test func theEmbeddedScriptsAssemble() throws {
        let library = try ScriptLibrary(
            packs: ["barbershop"], directory: nil, namespaces: StandardTables.namespaces.keys, reservedPaths: [])
        let scripts = try EventLogScripts(library)
        let all = [scripts.publish, scripts.subscribe, scripts.history, scripts.position]
        #expect(Set(all.map { "\($0)" }).count == 4)
        let keys = Keys(prefix: [])
        let shop = try #require(Topic("shop:42"))
        let stateful = try #require(scripts.stateful(shop))
        #expect(!all.contains { "\($0)" == "\(stateful.subscribe)" || "\($0)" == "\(stateful.position)" })
        #expect(
            stateful.keys(shop, keys).map { String(decoding: $0, as: UTF8.self) }
                == ["queue:42", "shop:42#status", "shop:42#bookings", "shop:42#barbers"])
        #expect(scripts.stateful(try #require(Topic("order:42"))) == nil)
    }
}
