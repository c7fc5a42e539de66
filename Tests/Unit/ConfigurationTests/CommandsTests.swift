import Core
import Testing

@testable import Configuration

/// Each command's own settings, help and version.
@Suite struct CommandsTests {
    private func run(_ result: CommandLineResult) -> Command? {
        if case .run(let command) = result { return command }
        return nil
    }

    @Test func devPointsTheGatewayAtItsFiles() {
        guard case .dev(let dev) = run(read("dev --port 0 --state d/ --demo=false --limit pingMs=9")) else {
            Issue.record("dev was refused")
            return
        }
        #expect(dev.port == 0 && !dev.demo && dev.redisServer == "redis-server")
        #expect(dev.gateway.listen == HostPort(host: "127.0.0.1", port: 0))
        #expect(dev.gateway.tlsCert == "d/cert.pem" && dev.gateway.redis == "unix://d/redis.sock")
        #expect(dev.gateway.limits.pingMs == 9)
        #expect(DevSettings().gateway.listen?.port == 8_443)
        #expect(!dev.isFresh && dev.gateway.limits.drainMs == 500 && dev.webhooks == [])
        #expect(dev.people && DevSettings().people)
        guard case .dev(let alone) = run(read("dev --people=false")) else {
            Issue.record("dev was refused")
            return
        }
        #expect(alone.demo && !alone.people)
    }

    @Test func devTakesTheTimeToDrainThatItIsGiven() {
        for words in ["dev --drain-seconds 3 --fresh", "dev --limit drainMs=3000 --fresh"] {
            guard case .dev(let dev) = run(read(words)) else {
                Issue.record("dev was refused")
                return
            }
            #expect(dev.gateway.limits.drainMs == 3_000 && dev.isFresh)
        }
    }

    @Test func typesAreForOneLanguage() {
        guard case .types(let types) = run(read("types swift --packs barbershop --scripts s")) else {
            Issue.record("types was refused")
            return
        }
        #expect(types.language == .swift && types.packs == ["barbershop"] && types.scripts == "s")
        #expect(types.namespaces.contains("user"))
        #expect(problems(read("types")) == ["switchboard types: expected typescript or swift"])
        #expect(problems(read("types kotlin")) == [#"switchboard types: expected typescript or swift; got "kotlin""#])
        #expect(
            problems(read("types swift swift")) == [
                #"switchboard types: expected typescript or swift; got "swift swift""#
            ])
    }

    /// An operator gives it the file of a gateway, which has much that it does not use.
    @Test func topTakesRedisFromTheFileOfAGateway() {
        let file = #"{"redis":"redis://:word@r.example:7","redis-prefix":"app:","listen":"0.0.0.0:443","api-keys":"k"}"#
        let arguments = "top --once --json --interval 5 --limit fleetWaitMs=900"
        guard case .top(let top) = run(read(arguments, file: file)) else {
            Issue.record("top was refused")
            return
        }
        #expect(top.redis == "redis://:word@r.example:7" && top.once && top.json && top.intervalSeconds == 5)
        #expect(top.keys.nodes == Array("app:#nodes".utf8) && top.limits.fleetWaitMs == 900)
        #expect(run(read("top")) == .top(TopSettings()))
        #expect(problems(read("top --interval 0")).count == 1 && problems(read("top shop:42")).count == 1)
        #expect(problems(read("top --api-keys k")).count == 1, "it needs no key")
        guard case .top(let cluster) = run(read("top --redis redis+cluster://a:1,b:2")) else {
            Issue.record("a cluster was refused")
            return
        }
        #expect(cluster.keys.layout == .tagged)
    }

    @Test func aTokenIsDescribed() {
        let arguments = "token --user u1 --role service --ttl 15m --topics order:* --topics shop:1 --jwt-audience a"
        guard case .token(let token) = run(read(arguments)) else {
            Issue.record("the token was refused")
            return
        }
        #expect(
            token
                == TokenSettings(
                    user: "u1", role: .service, ttlSeconds: 900, topics: ["order:*", "shop:1"], issuer: nil,
                    audience: "a", signer: .secretFile(KeyFile(path: ".switchboard/jwt-secret"))))
    }

    @Test(
        arguments: [
            ("", [:], .secretFile(KeyFile(path: ".switchboard/jwt-secret"))),
            ("--state d", [:], .secretFile(KeyFile(path: "d/jwt-secret"))),
            ("--state d", ["SWITCHBOARD_JWT_SECRET_FILE": "s"], .secretFile(KeyFile(path: "d/jwt-secret"))),
            ("", ["SWITCHBOARD_JWT_SECRET_FILE": "s"], .secretFile(KeyFile(path: "s"))),
            ("--jwt-secret-file f", ["SWITCHBOARD_STATE": "d"], .secretFile(KeyFile(path: "f"))),
            ("--jwt-secret-file f --state d", [:], .secretFile(KeyFile(path: "f"))),
            ("--key k --kid i", ["SWITCHBOARD_JWT_SECRET_FILE": "s"], .privateKey(file: "k", kid: "i")),
        ] as [(String, [String: String], TokenSettings.Signer)])
    func theStrongestSourceSigns(flags: String, env: [String: String], signer: TokenSettings.Signer) {
        guard case .token(let token) = run(read("token --user u " + flags, env: env)) else {
            Issue.record("the token was refused")
            return
        }
        #expect(token.signer == signer)
    }

    @Test(arguments: [
        ("token", "switchboard token: say whom the token names with --user"),
        (
            "token --user u --kid 1",
            "--kid: goes with --key; the id of a shared secret is written --jwt-secret-file KID=FILE"
        ),
        ("token --user u --key k --jwt-secret-file s", "--key: choose one of --key and --jwt-secret-file"),
        ("publish shop:1", "switchboard publish: expected TOPIC EVENT [JSON]; got 1 of them"),
        ("publish shop e", #"switchboard publish: expected a topic such as shop:42; got "shop""#),
        (
            "publish shop:1 e!",
            #"switchboard publish: expected an event name, 1 to 64 of A-Z a-z 0-9 . _ : / -; got "e!""#
        ),
        ("publish shop:1 e [1]", "switchboard publish: expected a JSON object; got an array"),
        ("publish shop:1 e {", "switchboard publish: expected a JSON object: not valid JSON"),
        ("publish shop:1 e --insecure --ca c", "--insecure: choose one of --insecure and --ca"),
        ("publish shop:1 e --url https://x", "--url: needs --api-key-file: dev's key is not sent elsewhere"),
        ("test", "switchboard test: expected the directory of one pack"),
        ("test a b", #"switchboard test: expected the directory of one pack; got "a b""#),
        ("tail", "switchboard tail: name at least one topic, e.g. shop:42"),
        ("tail shop", #"switchboard tail: expected a topic such as shop:42; got "shop""#),
        ("tail shop:1 shop:2 --since a:1", "--since: goes with one topic; a position belongs to one log"),
        ("tail shop:1 --count 0", #"--count: expected a whole number from 1 to 1000000000; got "0""#),
        ("gatway", #"switchboard: unknown command "gatway"; did you mean gateway?"#),
        ("--listen a:1", "switchboard: name a command before the flags; `switchboard help` lists them"),
        ("help tial", #"switchboard help: unknown command "tial"; did you mean tail?"#),
    ])
    func aWrongCommandIsNamedWithItsCure(arguments: String, expected: String) {
        #expect(problems(read(arguments)) == [expected])
    }

    @Test func publishingIsDescribed() {
        guard case .publish(let dev) = run(read("publish shop:42 queue:update --id op-1 -- {\"a\":1}")),
            case .publish(let other) = run(read("publish shop:42 e --url https://x:1 --api-key-file k --insecure"))
        else {
            Issue.record("publish was refused")
            return
        }
        #expect(dev.topic == Topic("shop:42") && dev.event == EventName("queue:update"))
        #expect(dev.json == Array("{\"a\":1}".utf8) && dev.id == MessageID(Array("op-1".utf8)))
        #expect(dev.gateway.url == nil && dev.gateway.trust == .file(".switchboard/cert.pem"))
        #expect(dev.apiKeyFile == ".switchboard/api-key")
        #expect(other.gateway.url == "https://x:1" && other.gateway.trust == .anything && other.apiKeyFile == "k")
        #expect(other.json == Array("{}".utf8))
    }

    @Test func followingIsDescribed() {
        guard case .tail(let tail) = run(read("tail shop:1 shop:1 --url https://x --count 3 --token-file t")),
            case .tail(let since) = run(read("tail shop:1 --since k3x9:17 --ca c"))
        else {
            Issue.record("tail was refused")
            return
        }
        #expect(tail.topics.count == 1 && tail.gateway.trust == .system && tail.count == 3 && tail.tokenFile == "t")
        #expect(since.since == Position(epoch: Array("k3x9".utf8), offset: 17) && since.gateway.trust == .file("c"))
    }

    @Test(arguments: ["", "help", "--help", "-h"])
    func theOverviewListsEveryCommand(arguments: String) {
        guard case .help(let text) = read(arguments) else {
            Issue.record("no help")
            return
        }
        for command in CommandName.allCases { #expect(text.contains("\n  " + command.rawValue + " ")) }
    }

    @Test(arguments: CommandName.allCases)
    func helpListsEverySettingOfTheCommandInsideTheWidth(command: CommandName) {
        guard case .help(let text) = read("help " + command.rawValue) else {
            Issue.record("no help")
            return
        }
        for setting in Setting.all {
            let name = setting.places.contains(.flag) ? "  " + setting.usage : "\"" + setting.fileKey + "\""
            let listed = text.contains(name + " ") || text.contains(name + "\n")
            #expect(listed == setting.commands.contains(command), "\(setting.name)")
        }
        for line in text.split(separator: "\n") { #expect(line.count <= 100) }
        if command != .help && command != .version {
            #expect(read(command.rawValue + " --nonsense --help") == .help(text))
        }
    }

    @Test func theVersionIsAskedFor() {
        #expect(read("version") == .version && read("--version") == .version)
    }
}
