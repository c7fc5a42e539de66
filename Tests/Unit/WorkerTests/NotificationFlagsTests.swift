import Testing

@testable import Worker

@Suite struct NotificationFlagsTests {
    private func merged(_ current: String) -> String? {
        NotificationFlags.merged(Array(current.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: ["KA", "AK", "AKE", "g$lshzxetK", "Kg$lshzxetmn"]) func whatSufficesIsLeftAlone(current: String) {
        #expect(merged(current) == nil)
    }

    @Test(arguments: [
        ("", "Kg$lshzxet"), ("A", "AK"), ("Ex", "ExKg$lshzet"), ("Kh", "Khg$lszxet"), ("AEm", "AEmK"),
    ]) func whatOthersNeedIsKept(current: String, expected: String) {
        #expect(merged(current) == expected)
    }
}
