import Core
import Testing

@testable import Rights

@Suite struct AddressTests {
    private func address(_ text: String) -> IPAddress? { IPAddress(text: Array(text.utf8)) }

    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("192.0.2.1", "192.0.2.1"), ("255.255.255.255", "255.255.255.255"),
        ("::", "0:0:0:0:0:0:0:0"), ("::1", "0:0:0:0:0:0:0:1"), ("1::", "1:0:0:0:0:0:0:0"),
        ("2001:DB8::8:800:200c:417a", "2001:db8:0:0:8:800:200c:417a"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:201", "192.0.2.1"),
        ("64:ff9b::192.0.2.1", "64:ff9b:0:0:0:0:c000:201"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("::1.2.3.4", "0:0:0:0:0:0:102:304"),
    ])
    func addressesAreRead(_ text: String, _ expected: String) {
        #expect(address(text)?.description == expected)
    }

    @Test(arguments: [
        "", ".", "...", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "0x1.2.3.4", "1.2.3.",
        ":", ":::", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::1::", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "12345::", "g::", "fe80::1%eth0", "[::1]", "::1/64", "1.2.3.4::",
        "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::01.2.3.4", "1:2:3:4::1.2.3.4:1",
        "::" + String(repeating: "0", count: 50),
        String(repeating: "1:", count: 30),
    ])
    func everythingElseIsRefused(_ text: String) {
        #expect(address(text) == nil)
    }

    @Test func bytesOfOtherLengthsAreRefused() {
        for count in [0, 1, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 0, count: count)) == nil) }
    }

    @Test func limitsCountIPv6ByItsFirstHalf() {
        #expect(address("2001:db8:1:2:3:4:5:6")?.limitKey == address("2001:db8:1:2::"))
        #expect(address("2001:db8:1:2::1")?.limitKey != address("2001:db8:1:3::1")?.limitKey)
        #expect(address("192.0.2.1")?.limitKey == address("192.0.2.1"))
        #expect(address("::ffff:192.0.2.1")?.limitKey == address("192.0.2.1"))
    }

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
    ])
    func rangeHoldsItsAddressesOnly(_ range: String, _ text: String, _ inside: Bool) throws {
        let other = try #require(address(text))
        #expect(try CIDR(range).contains(other) == inside)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "10.0.0.0/ 8",
        "10.0.0.0/+8",
        "10.0.0.1/8", "10/8", "::/129", "::1/64", "2001:db8::1/32", "::ffff:10.0.0.0/95", "::ffff:10.0.0.1/104",
        "localhost/8",
        "10.0.0.0/255.0.0.0", "10.0.0.0/18446744073709551624",
    ])
    func brokenRangeIsRefused(_ text: String) {
        #expect(throws: RightsProblem.self) { try CIDR(text) }
    }

    @Test func rangesShowAsText() throws {
        #expect(try CIDR("10.0.0.0/8").description == "10.0.0.0/8")
        #expect(try CIDR("::ffff:10.0.0.0/104").description == "10.0.0.0/8")
        #expect(try CIDR("::1").description == "0:0:0:0:0:0:0:1/128")
    }
}
