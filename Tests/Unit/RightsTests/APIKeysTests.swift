import Core
import Testing

@testable import Rights

extension Caller {
    /// The name of the API key that made the caller; `nil` for callers without one.
    fileprivate var keyName: String? {
        switch self {
        case .service(let holder), .publishable(let holder): holder.name
        case .anonymous, .user: nil
        }
    }
}

@Suite struct APIKeysTests {
    private let plain = "backend-key-0123456789"

    private func keys(_ text: String) throws -> APIKeys { try APIKeys(file: Array(text.utf8)) }

    private func hex(_ text: String) -> String {
        Digest.sha256(text.utf8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func plainAndDigestKeysMatchByName() throws {
        let keys = try keys(
            "# backends\n\norders:\(plain)\r\nshops:sha256:\(hex("another-key-0123456"))\n"
                + "orders:sha256:\(hex("rotated-key-01234567").uppercased())\nx:with:colons:in:the:key7")
        #expect(keys.count == 4)
        #expect(keys.match(Array(plain.utf8))?.keyName == "orders")
        #expect(keys.match(Array("another-key-0123456".utf8))?.keyName == "shops")
        #expect(keys.match(Array("rotated-key-01234567".utf8))?.keyName == "orders")
        #expect(keys.match(Array("with:colons:in:the:key7".utf8))?.keyName == "x")
        #expect(keys.description == "4 API keys")
    }

    @Test(arguments: [
        "", " ", "backend-key-012345678", "backend-key-01234567890", "BACKEND-KEY-0123456789", "orders",
        "orders:backend-key-0123456789", "backend-key-0123456789\n", "backend-key-0123456789\0", "sha256:",
    ])
    func anythingElseMatchesNothing(_ presented: String) throws {
        #expect(try keys("orders:\(plain)").match(Array(presented.utf8)) == nil)
    }

    @Test func theDigestItselfIsNoKey() throws {
        let keys = try keys("a:sha256:\(hex(plain))")
        #expect(keys.match(Array(hex(plain).utf8)) == nil)
        #expect(keys.match(Array("sha256:\(hex(plain))".utf8)) == nil)
        #expect(keys.match(Digest.sha256(plain.utf8)) == nil)
    }

    @Test func everyPositionMatchesItsOwnName() throws {
        let keys = try keys((0..<100).map { "n\($0):key-number-\($0)-padding" }.joined(separator: "\n"))
        for index in 0..<100 { #expect(keys.match(Array("key-number-\(index)-padding".utf8))?.keyName == "n\(index)") }
    }

    @Test func noKeysMatchNothing() throws {
        #expect(APIKeys().match([]) == nil)
        #expect(try keys("# none\n").isEmpty)
        #expect(try keys("").match(Array(plain.utf8)) == nil)
    }

    @Test func veryLongKeyMatchesNothing() throws {
        let longest = String(repeating: "k", count: 256)
        let keys = try keys("a:\(longest)")
        #expect(keys.match(Array(longest.utf8))?.keyName == "a")
        #expect(keys.match([UInt8](repeating: UInt8(ascii: "k"), count: 1_000_000)) == nil)
    }

    @Test(arguments: [
        "noname", ":0123456789abcdef", "na me:0123456789abcdef", "né:0123456789abcdef", "a:", "a:0123456789abcde",
        "a:0123456789abcdef ", "a:0123456789 abcdef", "a:0123456789abcdé", "a:0123456789abcdef\t",
        " a:0123456789abcdef",
        "a:sha256:", "a:sha256:00", "a:sha256:" + String(repeating: "g", count: 64),
        "a:sha256:" + String(repeating: "0", count: 65), "a:" + String(repeating: "k", count: 257),
        String(repeating: "n", count: 65) + ":0123456789abcdef", " # comment",
    ])
    func wrongLineIsNamedByItsNumber(_ line: String) {
        do {
            _ = try keys("# first\n\nok:fedcba9876543210\n\(line)\n")
            Issue.record("accepted")
        } catch {
            guard case .apiKeys(4, _) = error as? RightsProblem else {
                Issue.record("\(error)")
                return
            }
            #expect(!"\(error)".contains("0123456789abcde"))
        }
    }

    @Test func duplicatesAreRefusedUnderAnyNameOrForm() {
        for second in ["a:\(plain)", "b:\(plain)", "b:sha256:\(hex(plain))"] {
            #expect(throws: RightsProblem.apiKeys(line: 2, "the key occurs twice")) {
                try keys("a:\(plain)\n\(second)")
            }
        }
    }

    @Test func numberOfKeysIsBounded() throws {
        func file(_ count: Int) -> String { (0..<count).map { "n:key-number-\($0)-padding" }.joined(separator: "\n") }
        #expect(try keys(file(1_024)).count == 1_024)
        #expect(throws: RightsProblem.tooManyKeys(max: 1_024)) { try keys(file(1_025)) }
        #expect(throws: RightsProblem.tooLong(bytesMax: 1_048_576)) {
            try APIKeys(file: [UInt8](repeating: 0x0a, count: 1_048_577))
        }
    }

    /// A bare digest was taken for the key itself: whoever read the file could authenticate with what stood in it (P8).
    @Test func aBareDigestIsRefusedWithTheFormToWrite() {
        for digest in [hex(plain), hex(plain).uppercased()] {
            do {
                _ = try keys("a:\(digest)")
                Issue.record("accepted")
            } catch {
                #expect("\(error)".contains("name:sha256:<64 hex digits>"))
                #expect(!"\(error)".contains(digest))
            }
        }
    }

    @Test func aPublishableKeyIsAnonymousAndPaysByItsName() throws {
        let keys = try keys("web:\(plain):public\napp:sha256:\(hex("another-key-0123456")):public\nb:\(plain)x")
        let web = try #require(keys.match(Array(plain.utf8)))
        #expect(web.keyName == "web" && web.isAnonymous && !web.isService)
        #expect(keys.match(Array("another-key-0123456".utf8))?.keyName == "app")
        #expect(keys.match(Array("\(plain):public".utf8)) == nil)
        #expect(keys.match(Array("\(plain)x".utf8))?.isService == true)
        #expect(keys.count(for: .write) == 1)
        let address = IPAddress(192, 0, 2, 1)
        #expect(web.payer(from: address) == .publishable("web", address))
        #expect(web.payer(from: nil) == .crowd)
        #expect(Caller.anonymous.payer(from: address) == .address(address))
    }

    private static let words: [(String, APIKeyRights)] = [
        ("read", .read), ("write", .write), ("tap", .tap), ("read,write", [.read, .write]),
        ("write,read", [.read, .write]), ("tap,read,write", [.read, .write, .tap]),
    ]

    @Test(arguments: words)
    func wordsBehindAKeyNarrowIt(_ words: String, _ rights: APIKeyRights) throws {
        let keys = try keys("a:\(plain):\(words)\nb:sha256:\(hex("another-key-0123456")):\(words)\nc:\(plain)c")
        for (key, name) in [(plain, "a"), ("another-key-0123456", "b")] {
            guard case .service(let holder) = keys.match(Array(key.utf8)) else {
                Issue.record("no service")
                continue
            }
            #expect(holder.name == name && holder.rights == rights)
        }
        guard case .service(let whole) = keys.match(Array("\(plain)c".utf8)) else {
            Issue.record("no service")
            return
        }
        #expect(whole.rights == .everything, "a key without words may do everything but tap")
        #expect(!whole.rights.allow(.tap), "what clients say is shown to no key that was made for something else")
        #expect(keys.count(for: .read) == (rights.contains(.read) ? 3 : 1))
    }

    @Test(arguments: [
        ("raed", "'raed' is no right of a key"), ("READ", "did you mean read?"), ("read,", "'' is no right of a key"),
        ("", "'' is no right of a key"), ("read,read", "'read' stands twice"), ("public,read", "'public' stands alone"),
        ("read, write", "' write' is no right of a key"), ("admin", "public, or one or more of read, write and tap"),
    ])
    func wrongWordsAreNamed(_ words: String, _ text: String) {
        do {
            _ = try keys("a:\(plain):\(words)")
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains(text) && !"\(error)".contains(plain), "\(error)")
        }
    }

    /// Keys with colons were keys before there were words; those that cannot be meant as words still are.
    @Test(arguments: [
        "backend:key:0123456789", "backend-key-01234:Qx7", "backend:key:" + String(repeating: "a", count: 30),
    ])
    func aKeyMayHaveColons(_ key: String) throws {
        #expect(try keys("a:\(key)").match(Array(key.utf8))?.keyName == "a")
    }

    @Test func payersOfDifferentKindsNeverMeet() throws {
        let address = try #require(IPAddress(text: Array("2001:db8::7".utf8)))
        let user = try #require(Identity(user: Array("web".utf8), role: .user, topics: [], expiresAt: 1))
        let service = try #require(Identity(user: Array("web".utf8), role: .service, topics: nil, expiresAt: 1))
        let payers = [Caller.user(user), .user(service), .publishable("web"), .anonymous].map {
            $0.payer(from: address)
        }
        #expect(Set(payers).count == 4)
        #expect(Caller.service("web").payer(from: nil) == Caller.user(service).payer(from: nil))
        #expect(Caller.anonymous.payer(from: address) == .address(address.limitKey))
    }
}
