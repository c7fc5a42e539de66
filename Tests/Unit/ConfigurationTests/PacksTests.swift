import Configuration
import Core
import Testing

/// Packs of scripts: which are served, and what they bring.
@Suite struct PacksTests {
    private static let embedded: [String: String] = [
        "core": #"{"namespaces": {"user": {"subscribe": "owner", "publish": "service"}}, "sockets": {"/ws": {}}}"#,
        "barbershop": #"""
        {"summary": "Shops.", "standard": true,
         "namespaces": {"shop": {"subscribe": "anyone", "publish": "service", "log": {"seconds": 5}}},
         "sockets": {"/shops": {"join": ["user:{sub}"], "socketio": true},
                     "/dj": {"alias": {"shopId": "shop"}, "fill": ["shopId"], "socketio": true}, "/plain": {}}}
        """#,
        "market": #"{"needs": ["barbershop"], "namespaces": {"shop": {"log": {"seconds": 7}}}}"#,
        "people": #"{"namespaces": {"person": {"subscribe": "owner", "publish": "service"}}}"#,
        "chat": #"""
        {"needs": ["people"], "namespaces": {"chat": {"subscribe": "granted", "publish": "service", "log": {"events": 7}}},
         "sockets": {"/chat/{id}": {"join": ["chat:{id}"], "fold": "lower"}}, "errors": []}
        """#,
    ]

    /// Reads a command line with the packs above, a config file and an own pack.
    private func read(
        _ words: String, file: String? = nil, own: String? = nil, packs: [String: String] = embedded
    ) -> CommandLineResult {
        let words = words.split(separator: " ").map { String($0) } + (file == nil ? [] : ["--config", "c.json"])
        return Configuration.CommandLine.parse(
            arguments: words, environment: [:], packs: packs.mapValues { Array($0.utf8) }
        ) { path in
            ["c.json": file, "mine/pack.json": own][path].flatMap { $0 }.map { Array($0.utf8) }
        }
    }

    @Test func theStandardPackIsServedUnlessOthersAreNamed() throws {
        #expect(try #require(gateway(read(plain))).packs == ["barbershop"])
        #expect(try #require(gateway(read(plain + " --packs none"))).packs == [])
        #expect(
            try #require(gateway(read(plain + " --packs all"))).packs == ["barbershop", "people", "chat", "market"])
        #expect(try #require(gateway(read(plain, file: #"{"packs": "people"}"#))).packs == ["people"])
    }

    @Test func devServesEveryPackUnlessOthersAreNamed() throws {
        guard case .run(.dev(let all)) = read("dev"), case .run(.dev(let none)) = read("dev --packs none") else {
            Issue.record("dev has no settings")
            return
        }
        #expect(all.gateway.packs == ["barbershop", "people", "chat", "market"] && none.gateway.packs == [])
        #expect(all.gateway.namespaces["chat"] != nil)
    }

    /// `webhooks` of the config file were read by nobody, and nothing said so.
    @Test func devSendsEventsToReceivers() throws {
        let file = #"{"webhooks": {"kitchen": {"url": "https://k.example", "secret-file": "s", "topics": ["shop:1"]}}}"#
        let words = "dev --webhook http://127.0.0.1:9/x --webhook https://a.example --state d"
        guard case .run(.dev(let dev)) = read(words, file: file) else {
            Issue.record("dev has no settings")
            return
        }
        #expect(dev.webhooks.map(\.name) == ["kitchen", "dev", "dev-2"])
        #expect(dev.webhooks.map(\.url) == ["https://k.example", "http://127.0.0.1:9/x", "https://a.example"])
        #expect(dev.webhooks.map(\.secretFile) == ["s", "d/webhook-secret", "d/webhook-secret"])
        #expect(dev.webhooks[1].topics.contains("chat:*") && dev.webhooks[1].topics.contains("shop:*"))
    }

    @Test func aPackUnderTestBringsItsNamespaces() throws {
        let own = #"{"namespaces": {"room": {"subscribe": "anyone", "publish": "service"}}}"#
        guard case .run(.test(let test)) = read("test mine --packs chat --filter x", own: own) else {
            Issue.record("test has no settings")
            return
        }
        #expect(test.directory == "mine" && test.filter == "x" && test.packs == ["people", "chat"])
        #expect(test.namespaces["room"] != nil && test.namespaces["chat"] != nil && test.namespaces["shop"] == nil)
    }

    @Test func whatAPackNeedsComesWithItAndBefore() throws {
        let settings = try #require(gateway(read(plain + " --packs chat")))
        #expect(settings.packs == ["people", "chat"])
        #expect(settings.namespaces["person"]?.subscribe == .owner && settings.namespaces["chat"]?.logEventsMax == 7)
        #expect(settings.sockets["/chat/{id}"]?.foldsPath == true)
        #expect(settings.namespaces["user"] != nil, "core is always served")
        #expect(settings.namespaces["shop"] == nil, "the standard pack was not named")
        #expect(try #require(gateway(read(plain))).namespaces["chat"] == nil)
    }

    @Test func packsThatNeedEachOtherAreServedBoth() throws {
        let packs = ["a": #"{"needs": ["b"]}"#, "b": #"{"needs": ["a"]}"#]
        #expect(try #require(gateway(read(plain + " --packs a", packs: packs))).packs == ["b", "a"])
    }

    @Test func aPackThatIsNotServedBringsNothing() throws {
        let none = try #require(gateway(read(plain + " --packs none")))
        #expect(none.namespaces.keys.sorted() == ["user"] && none.sockets.keys.sorted() == ["/ws"])
        #expect(none.socketIONamespaces.isEmpty)
    }

    /// The place of a pack among those that are named decides nothing between it and the standard pack.
    @Test(arguments: ["barbershop,market", "market,barbershop", "market", "all"])
    func theStandardPackIsMergedBeforeTheOthers(_ packs: String) throws {
        let settings = try #require(gateway(read(plain + " --packs " + packs)))
        #expect(settings.namespaces["shop"]?.logSeconds == 7)
        let line = try #require(settings.report.lines.first { $0.name == "namespaces.shop" })
        #expect(line.source.description == "market/pack.json: namespaces.shop")
    }

    @Test func whatTheStandardPackSaysIsADefault() throws {
        let lines = try #require(gateway(read(plain + " --packs barbershop,people"))).report.lines
        #expect(lines.first { $0.name == "namespaces.shop" }?.source == .defaults)
        #expect(lines.first { $0.name == "namespaces.user" }?.source == .defaults)
        #expect(!lines.contains { $0.name.hasPrefix("sockets.") })
    }

    @Test func socketsMayBeNamespacesOfSocketIO() throws {
        let words = plain + " --socketio-namespace /vip"
        #expect(try #require(gateway(read(words))).socketIONamespaces == ["/shops", "/dj", "/vip"])
        let file = #"{"sockets": {"/dj": {}, "/shops": null, "/more": {"socketio": true}}}"#
        let settings = try #require(gateway(read(plain, file: file)))
        #expect(settings.socketIONamespaces == ["/shops", "/dj", "/more"], "a closed path leaves its namespace open")
        #expect(settings.sockets["/shops"] == nil && settings.sockets["/dj"] == SocketRules())
    }

    @Test func aMissingNamespaceOfAnotherPackNamesThePack() {
        let hint = "; the pack barbershop has it and is not served (--packs)"
        let socket = #"{"sockets": {"/x": {"join": ["shop:1"], "alias": {"shopId": "shop"}}}}"#
        #expect(
            problems(read(plain + " --packs none", file: socket)) == [
                "c.json: sockets./x.join: there is no namespace shop" + hint,
                "c.json: sockets./x.alias.shopId: there is no namespace shop" + hint,
            ])
        let policy = #"{"namespaces": {"shop": {"publish": "service", "log": {"events": 9}}}}"#
        #expect(
            problems(read(plain + " --packs none", file: policy)) == [
                "c.json: namespaces.shop: a new namespace must say who may subscribe" + hint
            ])
        #expect(
            problems(read(plain + " --scripts mine --packs none", own: socket)).first
                == "mine/pack.json:1: sockets./x.join: there is no namespace shop" + hint)
        #expect(problems(read(plain, file: socket)).isEmpty && problems(read(plain, file: policy)).isEmpty)
    }

    @Test func aStandardPackSaysSoPlainly() {
        let always = "standard: leave it out: this pack is always served"
        #expect(
            problems(read(plain + " --scripts mine", own: #"{"standard": true}"#)) == ["mine/pack.json:1: " + always])
        #expect(
            problems(read(plain, packs: ["core": #"{"standard": true}"#])) == ["core/pack.json:1: " + always])
        #expect(
            problems(read(plain + " --packs all", packs: ["a": #"{"standard": "true"}"#])) == [
                "a/pack.json:1: standard: expected true, or leave it out"
            ])
        #expect(
            problems(read(plain + " --packs core")).first?.hasPrefix("--packs: there is no pack \"core\"") == true)
    }

    @Test func theOperatorsWordIsTheLast() throws {
        let file = #"{"namespaces": {"chat": {"log": {"events": 9}}, "person": null}, "sockets": {"/chat/{id}": null}}"#
        let settings = try #require(gateway(read(plain + " --packs chat", file: file)))
        #expect(settings.namespaces["chat"]?.logEventsMax == 9 && settings.namespaces["chat"]?.subscribe == .granted)
        #expect(settings.namespaces["person"] == nil && settings.sockets["/chat/{id}"] == nil)
        #expect(settings.describe().contains("namespaces.person"))
    }

    @Test func theReportSaysWhichPackSaidIt() throws {
        let lines = try #require(gateway(read(plain + " --packs chat"))).report.lines
        let line = try #require(lines.first { $0.name == "namespaces.chat" })
        #expect(line.source.description == "chat/pack.json: namespaces.chat")
        #expect(lines.first { $0.name == "sockets./chat/{id}" }?.source.description.hasPrefix("chat/pack.json") == true)
    }

    @Test func theOperatorsScriptsBringAPackOfTheirOwn() throws {
        let own = #"{"needs": ["people"], "namespaces": {"mine": {"subscribe": "user", "publish": "service"}}}"#
        let settings = try #require(gateway(read(plain + " --scripts mine", own: own)))
        #expect(settings.packs == ["barbershop", "people"] && settings.namespaces["mine"]?.subscribe == .user)
        #expect(try #require(gateway(read(plain + " --scripts mine"))).packs == ["barbershop"])
    }

    @Test func mistakesNameThePackAndThePlace() {
        #expect(
            problems(read(plain + " --packs chta")) == ["--packs: there is no pack \"chta\"; did you mean chat?"])
        #expect(
            problems(read(plain + " --packs xyzzy")) == [
                "--packs: there is no pack \"xyzzy\"; there are barbershop, chat, market, people, all, none"
            ])
        func own(_ text: String) -> [String] { problems(read(plain + " --scripts mine", own: text)) }
        #expect(own(#"{"needs": ["chta"]}"#).first?.hasPrefix("mine/pack.json:1: needs: expected the names") == true)
        #expect(own(#"{"needs": "chat"}"#).first?.contains("expected an array of packs") == true)
        #expect(own(#"{"sumary": "x"}"#) == ["mine/pack.json:1: sumary: unknown key; did you mean summary?"])
        #expect(own(#"{"summary": ""}"#).first?.contains("expected a sentence") == true)
        #expect(own("{\n\"summary\": \"x\",\n}") == ["mine/pack.json:3: not valid JSON"])
        let lines = "{\n\"namespaces\": {\n\"x\": {\n\"subscribe\": \"users\"}}}"
        #expect(own(lines).contains { $0.hasPrefix("mine/pack.json:4: namespaces.x.subscribe: expected one of") })
        #expect(own("[]") == ["mine/pack.json: expected an object"])
        #expect(
            own(#"{"sockets": {"/x": {"join": ["nowhere:1"]}}}"#) == [
                "mine/pack.json:1: sockets./x.join: there is no namespace nowhere"
            ])
        #expect(own(#"{"namespaces": {"x": {"subscribe": "user"}}}"#).first?.contains("who may publish") == true)
    }
}
