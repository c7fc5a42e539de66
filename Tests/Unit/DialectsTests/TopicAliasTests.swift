import Core
import Dialects
import TestSupport
import Testing

@Suite struct TopicAliasTests {
    private func name(_ namespace: String) -> String {
        var name: [UInt8] = []
        TopicAlias.append(namespace: Array(namespace.utf8), to: &name)
        return String(decoding: name, as: UTF8.self)
    }

    private func namespace(_ name: String) -> String? {
        TopicAlias.namespace(ofMember: Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("shop", "shopId"), ("order-item", "orderItemId"), ("a", "aId"), ("a-b-c", "aBCId"), ("a-1", "a-1Id"),
        ("a-", "a-Id"), ("a--b", "a-BId"),
        ("a--", "a--Id"), ("x1-y", "x1YId"), ("ab-id", "abIdId"),
        ("abcdefghijklmnopqrstuvwxyz-12345", "abcdefghijklmnopqrstuvwxyz-12345Id"),
    ])
    func namespacesAndAliasesAreOneToOne(_ namespace: String, _ alias: String) {
        #expect(name(namespace) == alias)
        #expect(self.namespace(alias) == namespace)
    }

    @Test(arguments: [
        "", "Id", "id", "shop", "shopID", "shopid", "shop_id", "ShopId", "1shopId", "shop Id", "shöpId", "shop.Id",
        "-aId", String(repeating: "a", count: 33) + "Id",
        String(repeating: "A", count: 200) + "Id", "shopId ",
    ])
    func otherMembersAreNoAliases(_ name: String) {
        #expect(namespace(name) == nil)
    }

    @Test func everyNamespaceSurvives() {
        let palette = Array("ab1-".utf8)
        for seed in UInt64(0)..<5_000 {
            var random = Seeded(seed)
            let text =
                [0x61]
                + (0..<Int.random(in: 0...31, using: &random)).map { _ in palette.randomElement(using: &random) ?? 0 }
            var alias: [UInt8] = []
            TopicAlias.append(namespace: text, to: &alias)
            #expect(TopicAlias.namespace(ofMember: alias) == text, "seed \(seed)")
            #expect(alias.count <= text.count + 2)
        }
    }
}
