import Core
import HTTPCodec
import Testing

@testable import Demo

@Suite struct DemoPhonesTests {
    private static let token = String(repeating: "a1", count: 32)

    /// A request of the courier's, as it reaches the stand-in.
    private static func head(
        _ path: String = "/3/device/" + token, method: String = "POST", collapse: String = "c:1", without: String = ""
    ) throws -> HTTPRequestHead {
        let fields = [
            "Host: 127.0.0.1", "authorization: bearer x", "apns-topic: dev.switchboard",
            "apns-collapse-id: \(collapse)", "content-length: 0",
        ]
        let kept = fields.filter { without.isEmpty || !$0.hasPrefix(without) }
        let text = "\(method) \(path) HTTP/1.1\r\n" + kept.map { $0 + "\r\n" }.joined() + "\r\n"
        var parser = HTTPRequestParser(limits: HTTPLimits(Limits()))
        var position = 0
        let bytes = Array(text.utf8)
        guard case .head(let head) = parser.next(bytes.span, at: &position) else { throw Malformed() }
        return head
    }

    private struct Malformed: Error {}

    private static func payload(_ body: String, badge: String = "1", title: String? = nil) -> [UInt8] {
        let alert = (title.map { "\"title\":\"\($0)\"," } ?? "") + "\"body\":\"\(body)\""
        return Array("{\"aps\":{\"alert\":{\(alert)},\"badge\":\(badge)},\"senderId\":\"ann\"}".utf8)
    }

    private static func shown(_ phones: DemoPhones, _ token: String = token) throws -> JSON.Value {
        try JSON(parsing: phones.text(of: Array(token.utf8)), limits: Limits().json).root
    }

    private static func notifications(_ phone: JSON.Value) -> [JSON.Value] {
        phone["notifications"].map { Array($0.members) } ?? []
    }

    private static func bodies(_ phones: DemoPhones) throws -> [String?] {
        notifications(try shown(phones)).map { $0["body"]?.string }
    }

    @Test func aNewerPushOfTheSameIDTakesThePlaceOfTheOlder() throws {
        let phones = DemoPhones()
        for (id, body, badge) in [("c:1", "one", "1"), ("n:2", "two", "2"), ("c:1", "three", "3")] {
            let answer = phones.answer(
                to: try DemoPhonesTests.head(collapse: id), body: DemoPhonesTests.payload(body, badge: badge))
            #expect(answer.status == 200 && answer.body.isEmpty)
        }
        #expect(try DemoPhonesTests.bodies(phones) == ["three", "two"])
        let phone = try DemoPhonesTests.shown(phones)
        #expect(phone["badge"]?.int == 3)
        #expect(DemoPhonesTests.notifications(phone).first?["senderId"]?.string == "ann")
    }

    @Test func theAppTakesAwayWhatIsReadAndSetsTheBadge() throws {
        let phones = DemoPhones()
        for id in ["c:1", "c:2"] {
            _ = phones.answer(to: try DemoPhonesTests.head(collapse: id), body: DemoPhonesTests.payload(id, badge: "2"))
        }
        let token = Array(DemoPhonesTests.token.utf8)
        phones.clear([Array("c:1".utf8), Array("c:9".utf8)], badge: nil, order: nil, on: token)
        #expect(try DemoPhonesTests.bodies(phones) == ["c:2"])
        #expect(try DemoPhonesTests.shown(phones)["badge"]?.int == 2)
        phones.clear([Array("c:2".utf8)], badge: -5, order: nil, on: token)
        #expect(try DemoPhonesTests.bodies(phones).isEmpty)
        #expect(try DemoPhonesTests.shown(phones)["badge"]?.int == 0)
        // Nobody makes a phone by clearing it.
        phones.clear([], badge: 7, order: nil, on: Array(String(repeating: "b", count: 64).utf8))
        #expect(try DemoPhonesTests.shown(phones, String(repeating: "b", count: 64))["badge"]?.int == 0)
    }

    /// Requests of a browser overtake each other: the badge of before a conversation was read came last.
    @Test func aBadgeThatWasOvertakenIsNotTheNewest() throws {
        let phones = DemoPhones()
        let pushed = DemoPhonesTests.payload("c:1", badge: "3")
        _ = phones.answer(to: try DemoPhonesTests.head(collapse: "c:1"), body: pushed)
        let token = Array(DemoPhonesTests.token.utf8)
        phones.clear([Array("c:1".utf8)], badge: 0, order: 2, on: token)
        phones.clear([], badge: 3, order: 1, on: token)
        #expect(try DemoPhonesTests.shown(phones)["badge"]?.int == 0)
        phones.clear([], badge: 5, order: 3, on: token)
        #expect(try DemoPhonesTests.shown(phones)["badge"]?.int == 5)
    }

    @Test func whatAPNsWouldRefuseIsRefusedInItsWords() throws {
        let phones = DemoPhones()
        let good = DemoPhonesTests.payload("x")
        let cases: [(head: HTTPRequestHead, body: [UInt8], status: Int, reason: String)] = [
            (try DemoPhonesTests.head(method: "GET"), good, 405, "MethodNotAllowed"),
            (try DemoPhonesTests.head("/3/device/zz"), good, 400, "BadDeviceToken"),
            (try DemoPhonesTests.head("/3/device/" + String(repeating: "a", count: 201)), good, 400, "BadDeviceToken"),
            (try DemoPhonesTests.head(without: "authorization"), good, 403, "MissingProviderToken"),
            (try DemoPhonesTests.head(without: "apns-topic"), good, 400, "MissingTopic"),
            (try DemoPhonesTests.head(without: "apns-collapse-id"), good, 400, "BadCollapseId"),
            (try DemoPhonesTests.head(collapse: String(repeating: "c", count: 65)), good, 400, "BadCollapseId"),
            (try DemoPhonesTests.head(), [], 400, "PayloadEmpty"),
            (try DemoPhonesTests.head(), Array("{\"aps\":5}".utf8), 400, "PayloadEmpty"),
            (try DemoPhonesTests.head(), Array(repeating: 0x20, count: 4_097), 413, "PayloadTooLarge"),
        ]
        for (head, body, status, reason) in cases {
            let answer = phones.answer(to: head, body: body)
            #expect(answer.status == status)
            #expect(String(decoding: answer.body, as: UTF8.self) == "{\"reason\":\"\(reason)\"}")
        }
        #expect(try DemoPhonesTests.bodies(phones).isEmpty)
    }

    @Test func whatIsKeptIsBounded() throws {
        var book = DemoPhoneBook()
        func push(_ id: Int, _ phone: Int, badge: Int = 0) throws {
            let payload = try JSON(parsing: DemoPhonesTests.payload("\(id)"), limits: Limits().json).root
            let notification = try #require(
                DemoPhoneBook.Notification(id: Array("\(id)".utf8), payload: payload, atMs: phone * 1_000 + id))
            book.show(notification, badge: badge, on: [UInt8(phone)])
        }
        for id in 0..<DemoPhoneBook.shownMax + 5 { try push(id, 0, badge: .max) }
        func phone(_ number: UInt8) throws -> JSON.Value {
            try JSON(parsing: book.text(of: [number]), limits: Limits().json).root
        }
        let first = DemoPhonesTests.notifications(try phone(0))
        #expect(first.count == DemoPhoneBook.shownMax)
        #expect(first.first?["body"]?.string == "\(DemoPhoneBook.shownMax + 4)")
        #expect(try phone(0)["badge"]?.int == DemoPhoneBook.badgeMax)
        for number in 1...DemoPhoneBook.phonesMax { try push(0, number) }
        // The one that was used longest ago has left.
        #expect(DemoPhonesTests.notifications(try phone(0)).isEmpty)
        #expect(DemoPhonesTests.notifications(try phone(1)).count == 1)
    }
}
