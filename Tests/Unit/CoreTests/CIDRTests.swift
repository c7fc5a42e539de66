import Testing

@testable import Core

@Suite struct CIDRTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "9.255.255.255", false),
        ("192.0.2.128/25", "192.0.2.128", true), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.0", false), ("192.0.2.1/32", "192.0.2.2", false),
        ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false), ("::/0", "2001:db8::1", true),
        ("::/0", "10.0.0.1", false), ("::1", "::1", true), ("::1/128", "::2", false), ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fe00::1", false), ("2001:db8::/33", "2001:db8:7fff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
        ("::ffff:10.0.0.0/104", "11.1.2.3", false), ("::ffff:0:0/96", "203.0.113.9", true),
        ("10.0.0.0/9", "10.128.0.0", false), ("1.2.3.4/31", "1.2.3.5", true),
    ])
    func rangeHoldsItsAddressesOnly(_ range: String, _ text: String, _ inside: Bool) throws {
        let other = try #require(IPAddress(text: text.utf8))
        #expect(try CIDR(range.utf8).contains(other) == inside)
    }

    @Test(
        arguments: [
            ("", .form), ("/", .form), ("/8", .form), ("10.0.0.0/8/8", .form), ("10/8", .form), ("a/8", .form),
            ("localhost/8", .form), ("10.0.0.0/8/", .form),
            ("10.0.0.0/", .prefix(max: 32)), ("10.0.0.0/33", .prefix(max: 32)), ("10.0.0.0/-1", .prefix(max: 32)),
            ("10.0.0.0/08", .prefix(max: 32)), ("10.0.0.0/ 8", .prefix(max: 32)), ("10.0.0.0/+8", .prefix(max: 32)),
            ("10.0.0.0/255.0.0.0", .prefix(max: 32)), ("10.0.0.0/18446744073709551624", .prefix(max: 32)),
            ("::/129", .prefix(max: 128)), ("::ffff:10.0.0.0/95", .mappedPrefix),
            ("10.0.0.1/8", .bitsBehindPrefix(8)), ("::1/64", .bitsBehindPrefix(64)),
            ("2001:db8::1/32", .bitsBehindPrefix(32)), ("::ffff:10.0.0.1/104", .bitsBehindPrefix(104)),
        ] as [(String, CIDR.Fault)])
    func brokenRangeIsRefused(_ text: String, _ fault: CIDR.Fault) {
        #expect(throws: fault) { try CIDR(text.utf8) }
    }

    @Test func rangesShowAsText() throws {
        #expect(try CIDR("10.0.0.0/8".utf8).description == "10.0.0.0/8")
        #expect(try CIDR("::ffff:10.0.0.0/104".utf8).description == "10.0.0.0/8")
        #expect(try CIDR("::1".utf8).description == "::1/128")
    }
}
