import Core
import Testing

@testable import Commands

@Suite struct ReplyPriceTests {
    @Test(arguments: [
        ("0", 0, 0, false), ("13", 13, 0, false), ("2:4096", 2, 4_096, false), ("13:0:1", 13, 0, true),
        ("13:70000:1", 13, 70_000, true), ("13:5:0", 13, 5, false),
    ])
    func aPriceIsPublishesBytesAndAMark(_ text: String, _ publishes: Int, _ told: Int, _ isMarked: Bool) throws {
        let price = try #require(CommandReply.Price(bytes(text)))
        #expect(price.publishes == publishes && price.bytes == told && price.isMarked == isMarked)
    }

    @Test(arguments: ["", ":", "1:", ":1", "1:2:3:4", "-1", "1 ", "a", "1:b", "99999999999999999999"])
    func whatIsNoPriceIsNone(_ text: String) {
        #expect(CommandReply.Price(bytes(text)) == nil)
    }

    @Test func aMarkedRateSaysSo() throws {
        let marked = try CallRate(header: "100/86400 s user marked")
        #expect(marked.isMarked && marked.description == "100/86400 s user marked")
        #expect(try CallRate(header: "100/86400 s user").isMarked == false)
        #expect(throws: HeaderFault.self) { try CallRate(header: "100/86400 s user begun") }
    }
}
