import Core
import HTTPCodec
import Testing

@testable import Commands

/// What scripts say about each other, and what the catalogue answers.
@Suite struct CatalogueTests {
    // MARK: One script against itself

    @Test func keysAndHomeTopicsBelongToOneID() {
        #expect(
            problems(command("a", "@arg userId id\n@key more user:{userId}#places")) == [
                "a.lua:9: @key: all keys of a script belong to one id; the first is {shopId}, this {userId}; a script that "
                    + "needs both says why by @span"
            ])
        #expect(problems(command("a", "@arg userId id\n@topic user:{userId}")) == [])
        let none = script(
            "a",
            """
            @command a
            @summary S.
            @allow user
            @returns {}
            @cost O(1)
            @topic user:*
            """)
        #expect(
            problems(none) == [
                "a.lua:1: a script that writes needs a @key, or a @topic with an argument: they say which id it "
                    + "belongs to"
            ])
    }

    @Test(arguments: [
        ("@arg x int 1..5", "@key k dj:{x}#y", "@key: {x} must be an argument of type id or user, not int"),
        ("@arg x id optional", "@key k dj:{x}#y", "@key: {x} must not be optional"),
        ("@arg x id optional", "@topic dj:{x}", "@topic: {x} must not be optional"),
        ("@arg x string 1..9", "@topic dj:{x}", "@topic: {x} must be an argument of type id or user, not string"),
    ])
    func anIDIsAlwaysThereAndAnID(_ argument: String, _ use: String, _ message: String) {
        let script = script(
            "a",
            """
            @command a
            @summary S.
            @allow user
            @returns {}
            @cost O(1)
            \(argument)
            \(use)
            """)
        #expect(problems(script) == ["a.lua:7: " + message])
    }

    @Test(arguments: [
        ("string 1..256", true), ("id", true), ("string 0..9", false), ("string 1..257", false), ("int 1..2", false),
        ("id optional", false),
    ])
    func aMemberOfAKeyIsBoundedText(_ type: String, _ isFit: Bool) {
        let found = problems(command("a", "@arg trackId \(type)\n@key v dj:{shopId}#votes#{trackId}"))
        #expect(found.isEmpty == isFit, "\(found)")
        #expect(found.allSatisfy { $0.hasPrefix("a.lua:9: @key: {trackId} must ") })
    }

    @Test func aReadOnlyScriptEmitsNothing() {
        #expect(
            problems(command("a", "@readonly\n@topic dj:{shopId}")) == [
                "a.lua:9: a @readonly script emits nothing and calls nothing"
            ])
        #expect(problems(reader("a", "@arg x id")) == [], "and needs no key")
    }

    @Test func heartbeatsAreForOneUserAndTheWorker() throws {
        func beat(_ allow: String, _ argument: String) -> ScriptFile {
            script(
                "beat",
                """
                @command beat
                @summary S.
                @allow \(allow)
                @heartbeat 30 s
                @returns {}
                @cost O(1)
                \(argument)
                @key online user:{userId}#online
                """)
        }
        let good = try catalogue(beat("worker", "@arg userId id\n@arg more int 0..9 = 1"))
        #expect(good.heartbeats.map(\.heartbeatSeconds) == [30])
        #expect(
            problems(beat("service", "@arg userId id")) == ["beat.lua:4: @heartbeat: the script must @allow worker"])
        #expect(
            problems(beat("worker", "@arg userId id\n@arg x id")) == [
                "beat.lua:4: @heartbeat: the script must have exactly one required argument, userId id"
            ])
    }

    @Test func aRefreshHasOneArgumentAndItsTriggersNameIt() {
        func refresh(_ trigger: String, _ arguments: String) -> ScriptFile {
            script(
                "r",
                "@refresh \(trigger)\n@summary S.\n@cost O(1)\n\(arguments)\n@key k shop:{shopId}#bookings")
        }
        #expect(problems(refresh("shop:{shopId}#bookings", "@arg shopId id")) == [])
        #expect(
            problems(refresh("shop:{shopID}#bookings", "@arg shopId id")) == [
                "r.lua:1: @refresh: the one variable must be {shopId}, the script's one argument"
            ])
        #expect(
            problems(refresh("shop:{shopId}#bookings", "@arg shopId id\n@arg x id")) == [
                "r.lua:4: @refresh: the script must have exactly one argument, a required id"
            ])
        let both = command("a", "@refresh dj:{shopId}#tracks")
        #expect(problems(both) == ["a.lua:8: @refresh does not belong in a script with @command"])
    }

    // MARK: Scripts against each other

    @Test func namesAreUniqueAndEmbeddedOnesAreNotReplaced() {
        let again = ScriptFile(name: "own", path: "scripts/own.lua", bytes: command("a").bytes)
        #expect(
            problems(command("a"), operators: [again]) == [
                "scripts/own.lua:1: @command: a is defined in a.lua, and no script of your own may replace it"
            ])
        #expect(problems(operators: [command("a"), again]) == ["scripts/own.lua:1: @command: a is defined in a.lua"])
    }

    /// `switchboard dev` serves every pack, so the name of a command may be taken by a pack that nobody has chosen.
    @Test func aNameThatAPackHasIsRefusedWithTheWayOut() {
        let theirs = ScriptFile(name: "say", path: "talk/say.lua", bytes: command("say").bytes, pack: "talk")
        let own = ScriptFile(name: "say", path: "scripts/say.lua", bytes: command("say").bytes)
        #expect(
            problems(theirs, operators: [own]) == [
                "scripts/say.lua:1: @command: say is defined in talk/say.lua, and no script of your own may replace "
                    + "it; take another name, or leave the pack talk out of --packs"
            ])
    }

    @Test func routesAreUniqueByMethodAndShape() {
        let one = command("a", "@http POST /v1/a/{shopId}")
        #expect(problems(one, command("b", "@http PUT /v1/a/{shopId}\n@http POST /v1/a/b")) == [])
        let same = command("b", "@arg other id\n@http POST /v1/a/{other}")
        #expect(problems(one, same) == ["b.lua:9: @http: POST /v1/a/{other} is the same as on a.lua:8"])
    }

    @Test func whatIsCalledExistsAndAllowsTheWorker() {
        let caller = command("a", "@calls tell_all")
        #expect(problems(caller, command("tell_all")) == [])
        #expect(
            problems(caller, command("tell_all", allow: "user")) == [
                "a.lua:8: @calls: tell_all must @allow worker"
            ])
        #expect(
            problems(caller, command("tell_al")) == [
                "a.lua:8: @calls: there is no command tell_all; did you mean tell_al?"
            ])
    }

    @Test func embeddedScriptsOfARemovedNamespaceAreLeftOut() throws {
        let scripts = [
            command("emits", "@topic user:*"), command("calls", "@calls emits"), command("calls_calls", "@calls calls"),
            command("plain"), script("state_user", "@state user\n@summary S.\n@key k user:{id}#inbox\n@cost O(1)"),
        ]
        let whole = try Catalogue(embedded: scripts, operators: [], namespaces: namespaces, reservedPaths: [])
        #expect(whole.commands.map(\.name) == ["calls", "calls_calls", "emits", "plain"])
        #expect(whole.disabled.isEmpty && whole.states["user"]?.keys.map(\.name) == ["k"])

        let less = try Catalogue(embedded: scripts, operators: [], namespaces: ["dj"], reservedPaths: [])
        #expect(less.commands.map(\.name) == ["plain"])
        #expect(less.states.isEmpty)
        #expect(
            less.disabled == [
                DisabledScript(name: "calls", reason: "it calls emits, which is left out"),
                DisabledScript(name: "calls_calls", reason: "it calls calls, which is left out"),
                DisabledScript(name: "emits", reason: "namespace user is not configured"),
                DisabledScript(name: "state_user", reason: "namespace user is not configured"),
            ])
        let own = command("own", "@calls emits")
        #expect(
            throws: CatalogueFailure(problems: [
                ScriptProblem(
                    file: "own.lua", line: 8, message: "@calls: emits is left out: namespace user is not configured")
            ])
        ) {
            try Catalogue(embedded: scripts, operators: [own], namespaces: ["dj"], reservedPaths: [])
        }
    }

    @Test func whatIsAUsersIsErasedAndToldByScriptsOfOneArgument() throws {
        func data(_ tag: String, allow: String = "worker", more: String = "") -> ScriptFile {
            let user = "@arg userId user\n@key notes user:{userId}#notes"
            return script(
                "d", "@command d\n@summary S.\n@allow \(allow)\n\(user)\n\(tag)\n@returns {}\n@cost O(1)\n\(more)")
        }
        let erasing = try catalogue(data("@erases"))
        #expect(erasing.erasers.map(\.name) == ["d"] && erasing.exporters.isEmpty)
        let telling = try catalogue(data("@exports", more: "@readonly"))
        #expect(telling.exporters.map(\.exportName) == ["d"] && telling.erasers.isEmpty)
        #expect(problems(data("@exports")) == ["d.lua:6: @exports: the script must be @readonly"])
        #expect(problems(data("@erases", more: "@readonly")) == ["d.lua:6: @erases: a @readonly script erases nothing"])
        #expect(problems(data("@erases", allow: "user")) == ["d.lua:6: @erases: the script must @allow worker"])
        #expect(
            problems(data("@erases", more: "@arg shopId id")) == [
                "d.lua:6: @erases: the script must have exactly one required argument, userId user"
            ])
    }

    @Test func onlyWhoErasesMayNameALog() throws {
        let log = "@arg userId user\n@key log user:{userId}#log"
        let erasing = script("e", "@command e\n@summary S.\n@allow worker\n\(log)\n@erases\n@returns {}\n@cost O(1)")
        #expect(try catalogue(erasing).erasers.first?.keys.first?.template.description == "user:{userId}#log")
        let facet = "#log is written by the gateway itself; choose another facet"
        let joins = script("j", "@subscribe dj\n@summary S.\n@key log dj:{id}#log\n@cost O(1)")
        #expect(problems(joins) == ["j.lua:3: @key: " + facet])
        let member = command("m", "@key more dj:{shopId}#log#{shopId}")
        #expect(problems(member) == ["m.lua:8: @key: " + facet])
    }

    @Test func twoExportsOfOneFolderWouldTellOneMember() throws {
        func export(_ name: String, in folder: String) -> ScriptFile {
            let user = "@arg userId user\n@key notes user:{userId}#notes"
            let tags = "@exports\n@readonly\n@returns {}\n@cost O(1)"
            let text = "@command \(name)\n@summary S.\n@allow worker\n\(user)\n" + tags
            let file = script(name, text)
            return ScriptFile(name: name, path: "\(folder)/\(name).lua", bytes: file.bytes)
        }
        #expect(
            problems(export("a", in: "packs/notes"), operators: [export("b", in: "/srv/notes")]) == [
                "/srv/notes/b.lua:6: @exports: packs/notes/a.lua tells the member notes of a user's data; let one script "
                    + "tell both, or put this one into a folder of another name"
            ])
        let both = try catalogue(export("a", in: "packs/notes"), operators: [export("b", in: "/srv/songs")])
        #expect(both.exporters.map(\.exportName) == ["notes", "songs"])
    }

    @Test func membersAndTokensNeedATopicOfTheScript() throws {
        #expect(
            problems(command("c", "@members")) == [
                "c.lua:8: @members: the members are those of a topic; declare it by @topic"
            ])
        #expect(
            problems(reader("r", "@arg a id", more: "@members")) == [
                "r.lua:7: @members: a @readonly script changes no members"
            ])
        let minting = try catalogue(command("c", "@mint dj:{shopId} 6 h"))
        #expect(minting.command(named: "c")?.mint?.seconds == 21_600)
        for wrong in [
            "dj:* 6 h", "dj:{shopId}", "dj:{shopId} 59 s", "dj:{shopId} 31 d", "dj:{shopId} 6 w", "dj:{shopId} -1 h",
        ] {
            #expect(problems(command("c", "@mint " + wrong)).count == 1, "\(wrong)")
        }
        #expect(
            problems(command("c", "@arg other id\n@mint dj:{other} 6 h")) == [
                "c.lua:9: @mint: the token is for a topic of the script's own id, {shopId}"
            ])
    }

    @Test func joinsHaveKeysOfTheTopicAndItsCaller() throws {
        func join(_ file: String, _ key: String, body: String = "return {}\n") -> ScriptFile {
            script(file, "@subscribe shop\n@summary S.\n@key own \(key)\n@errors banned 423\n@cost O(1)", body: body)
        }
        let good = try #require(try catalogue(join("j", "shop:{id}#own#{user}")).states["shop"])
        #expect(good.isPersonal && good.file.name == "j")
        #expect(good.refusal("FAIL banned You may not.") == Refusal(named: "banned", status: 423, "You may not."))
        #expect(good.refusal("FAIL forbidden No.") == Refusal(named: "forbidden", status: 403, "No."))
        #expect(good.refusal("FAULT user_script:1: x") == nil && good.refusal("FAIL other No.") == nil)
        let told = ["j.lua:3: @key: the keys of @subscribe are those of {id}, and {user} may stand behind the second #"]
        #expect(problems(join("j", "user:{user}#own")) == told)
        #expect(problems(join("j", "shop:{id}#own#{other}")) == told)
        let state = script("s", "@state shop\n@summary S.\n@key c queue:{id}\n@cost O(1)")
        #expect(
            problems(join("j", "shop:{id}#own"), operators: [state]) == [
                "s.lua:1: @state: j.lua provides the state of shop"
            ])
        let wrong = try catalogue(join("j", "shop:{id}#own", body: "return {x = key.other, y = args.shopId}"))
        #expect(wrong.bodyMistakes.count == 2)
    }

    @Test func statesHaveKeysOfTheTopicsID() throws {
        func state(_ file: String, _ key: String) -> ScriptFile {
            script(file, "@state shop\n@summary S.\n@key cache \(key)\n@cost O(1)")
        }
        let good = try catalogue(state("state_shop", "queue:{id}"))
        #expect(good.states["shop"]?.file.name == "state_shop")
        #expect(good.states["shop"]?.keys.map(\.template.description) == ["queue:{id}"])
        #expect(problems(state("s", "queue:{shopId}")) == ["s.lua:3: @key: the one variable of a state's keys is {id}"])
        #expect(
            problems(state("s", "queue:{id}"), operators: [state("t", "queue:{id}")]) == [
                "t.lua:1: @state: s.lua provides the state of shop"
            ])
    }

    @Test func aFileWithoutAKindIsPlainWhenEmbeddedAndAMistakeOtherwise() throws {
        let plain = script("history", "@summary S.\n@key log {topic}#log\n@errors BADARG")
        #expect(try catalogue(plain).plain == [plain])
        #expect(
            problems(operators: [plain]) == [
                "history.lua:1: the header has no @command, @refresh, @state, @subscribe or @part"
            ])
    }

    // MARK: Answers

    private func found(_ catalogue: Catalogue, _ method: HTTPMethod, _ path: String) -> String {
        switch catalogue.route(method: method, segments: path.split(separator: "/").map { String($0) }) {
        case .command(let descriptor, _, let arguments):
            ([descriptor.name] + arguments.map { "\($0.name)=\(text($0.value) ?? "")" }).joined(separator: " ")
        case .methodNotAllowed(let methods): methods.map(\.rawValue).joined(separator: " ")
        case .none: "none"
        }
    }

    @Test func routesLeadToCommands() throws {
        let routes = try catalogue(
            command("change", "@arg to id\n@http POST /v1/shops/{shopId}/move/{to}\n@http PATCH /v1/shops/{shopId}"),
            reader("read", "@arg shopId id", more: "@http GET /v1/shops/{shopId}"),
            reader("near", "", more: "@http GET /v1/shops/nearby"))
        #expect(found(routes, .post, "/v1/shops/42/move/7") == "change shopId=42 to=7")
        #expect(found(routes, .patch, "/v1/shops/42") == "change shopId=42")
        #expect(found(routes, .get, "/v1/shops/42") == "read shopId=42")
        #expect(found(routes, .head, "/v1/shops/42") == "read shopId=42")
        #expect(found(routes, .get, "/v1/shops/nearby") == "near", "what is written out wins")
        #expect(found(routes, .patch, "/v1/shops/nearby") == "change shopId=nearby")
        #expect(found(routes, .delete, "/v1/shops/42") == "GET HEAD PATCH")
        #expect(found(routes, .get, "/v1/shops/42/move/7") == "POST")
        #expect(found(routes, .get, "/v1/shops") == "none")
        #expect(found(routes, .get, "/") == "none")
    }

    @Test func commandsAreFoundByName() throws {
        let some = try catalogue(command("b"), command("a"))
        #expect(some.commands.map(\.name) == ["a", "b"])
        #expect(some.command(named: "b")?.name == "b")
        #expect(some.command(named: "c") == nil)
    }

    @Test func rolesAreExactlyThoseNamed() {
        let users = CommandRights([.user, .worker])
        #expect(users.refusal(.user) == nil && users.refusal(.worker) == nil)
        #expect(users.refusal(.anonymous)?.code == .unauthorized)
        #expect(users.refusal(.service) == Refusal(.forbidden, "This command is for user only."))
        let hidden = CommandRights([.worker])
        #expect(hidden.isWorkerOnly && hidden.refusal(.service)?.code == .notFound)
    }
}
