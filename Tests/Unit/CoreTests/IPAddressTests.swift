import Testing

@testable import Core

@Suite struct IPAddressTests {
    private func address(_ text: String) -> IPAddress? { IPAddress(text: Array(text.utf8)) }

    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("192.0.2.1", "192.0.2.1"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("0:0:0:0:0:0:0:0", "::"), ("FE80::aB", "fe80::ab"),
        ("2001:DB8::8:800:200c:417a", "2001:db8::8:800:200c:417a"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:201", "192.0.2.1"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("::1.2.3.4", "::102:304"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:0:0:2::", "1:0:0:2::"),
    ])
    func addressesAreRead(_ text: String, _ expected: String) {
        let read = address(text)
        #expect(read?.description == expected)
        #expect(address(expected) == read, "what is written reads the same")
        let isVersion6 = text.contains(":")
        #expect(IPAddress(version4: text.utf8) == (isVersion6 ? nil : read))
        #expect(IPAddress(version6: text.utf8) == (isVersion6 ? read : nil))
    }

    @Test(arguments: [
        "", ".", "...", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "0x1.2.3.4", "1.2.3.",
        ":", ":::", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::1::", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "12345::", "g::", "fe80::1%eth0", "[::1]", "::1/64", "1.2.3.4::",
        "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.256", "::.", "::%1", "1", "1::2:", "::01.2.3.4",
        "1:2:3:4::1.2.3.4:1",
        "::" + String(repeating: "0", count: 50),
        String(repeating: "1:", count: 30),
    ])
    func everythingElseIsRefused(_ text: String) {
        #expect(address(text) == nil)
        #expect(IPAddress(version4: text.utf8) == nil && IPAddress(version6: text.utf8) == nil)
    }

    @Test func bytesAreTakenInFoursAndSixteens() {
        #expect(IPAddress(bytes: [192, 0, 2, 1]) == address("192.0.2.1"))
        #expect(IPAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]) == address("192.0.2.1"))
        for count in [0, 1, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 0, count: count)) == nil) }
    }

    @Test func limitsCountIPv6ByItsFirstHalf() {
        #expect(address("2001:db8:1:2:3:4:5:6")?.limitKey == address("2001:db8:1:2::"))
        #expect(address("2001:db8:1:2::1")?.limitKey != address("2001:db8:1:3::1")?.limitKey)
        #expect(address("192.0.2.1")?.limitKey == address("192.0.2.1"))
        #expect(address("::ffff:192.0.2.1")?.limitKey == address("192.0.2.1"))
    }
}
