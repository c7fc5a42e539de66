import Testing

@testable import Calls

@Suite struct PrintableNameTests {
    @Test(arguments: [
        ("vote", "'vote'"), ("", "''"), ("a b", "'a?b'"), ("a\"b", "'a?b'"), ("a\nb\u{7f}", "'a?b?'"),
        ("caf\u{e9}", "'caf??'"), (String(repeating: "x", count: 65), "'" + String(repeating: "x", count: 64) + "'"),
    ])
    func onlyPrintableASCIIIsShown(_ name: String, _ shown: String) {
        #expect(PrintableName.shown(name) == shown)
    }
}
