import Testing

@testable import RedisLink

@Suite struct KeyspaceFlagsTests {
    private static let refreshes = "Kg$lshzxet"

    private func merged(_ current: String, _ wanted: String = KeyspaceFlagsTests.refreshes) -> String? {
        KeyspaceFlags(Array(wanted.utf8), maySet: true, everyMs: 1)
            .merged(Array(current.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: ["KA", "AK", "AKE", "g$lshzxetK", "Kg$lshzxetmn"]) func whatSufficesIsLeftAlone(current: String) {
        #expect(merged(current) == nil)
    }

    @Test(arguments: [
        ("", "Kg$lshzxet"), ("A", "AK"), ("Ex", "ExKg$lshzet"), ("Kh", "Khg$lszxet"), ("AEm", "AEmK"),
    ]) func whatOthersNeedIsKept(current: String, expected: String) {
        #expect(merged(current) == expected)
    }

    /// A courier wants the events of streams alone.
    @Test(arguments: [
        ("", "Kt"), ("K", "Kt"), ("Ex", "ExKt"), ("AK", nil), ("AE", "AEK"), ("tK", nil), ("Kg$", "Kg$t"),
    ]) func onlyWhatIsMissingIsAdded(current: String, expected: String?) {
        #expect(merged(current, "Kt") == expected)
    }
}
