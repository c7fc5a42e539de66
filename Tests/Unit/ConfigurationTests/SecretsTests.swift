import Testing

@testable import Configuration

/// No secret is ever shown: neither in problems nor in the report.
@Suite struct SecretsTests {
    @Test(arguments: [
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://user:hunter2@h:6379", "redis://user:***@h:6379"),
        ("redis://:hunter2@h", "redis://:***@h"),
        ("rediss://hunter2@h", "rediss://***@h"),
        ("redis://u:hun@ter2@h", "redis://u:***@h"),
        ("redis://u:hun/ter2@h", "redis://u:***@h"),
        ("unix:///r.sock?password=hunter2", "unix:///r.sock?***"),
        ("unix:///r.sock?password=hunt@er2", "unix://***"),
        ("redis://u:hun?ter2@h", "redis://***"),
        ("hunter2", "***"),
    ])
    func aURLIsMasked(url: String, expected: String) {
        #expect(SettingURL.masked(url) == expected)
    }

    @Test func theReportMasksThePassword() throws {
        let settings = try #require(gateway(read(plain + " --redis redis://u:hunter2@h:1")))
        #expect(settings.redis == "redis://u:hunter2@h:1")
        #expect(!settings.describe().contains("hunter2"))
        #expect(settings.describe().contains("redis://u:***@h:1"))
    }

    @Test(arguments: [
        "gateway --redis http://u:hunter2@h", "gateway --redis-pasword hunter2", "gateway --redis-pasword=hunter2",
        "gateway -p=hunter2", "publish --api-key hunter2 shop:1 e", "publish --url https://u:hunter2@h shop:1 e",
        "tail --token hunter2 shop:1",
    ])
    func problemsNeverShowTheValueOfASecret(arguments: String) {
        let found = problems(read(arguments))
        #expect(!found.isEmpty)
        for problem in found { #expect(!problem.contains("hunter2")) }
    }

    @Test func problemsShowNoControlCharacters() {
        let escape = "\u{1b}[31m"
        let found = problems(
            read("gateway --\(escape) --log \(escape) word\(escape) -\(escape)", env: ["SWITCHBOARD_\(escape)": "x"]))
        #expect(found.count >= 5)
        for problem in found { #expect(!problem.unicodeScalars.contains { $0.value < 0x20 }) }
    }
}
