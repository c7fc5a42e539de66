import Configuration
import Core
import TestSupport
import Testing

/// Flags, environment and config file: forms, precedence, unknown names.
@Suite struct SourcesTests {
    @Test func everySourceSetsAndTheStrongerWins() throws {
        let file = #"{"redis-prefix": "file:", "shards": 1, "log": "json", "listen-plain": "[::]:1"}"#
        let env = ["SWITCHBOARD_REDIS_PREFIX": "env:", "SWITCHBOARD_SHARDS": "2", "HOME": "/root"]
        let settings = try #require(gateway(read("gateway --redis-prefix flag:", env: env, file: file)))
        #expect(settings.redisPrefix == "flag:")
        #expect(settings.shards == 2)
        #expect(settings.log == .json)
        #expect(settings.listenPlain == HostPort(host: "::", port: 1))
        #expect(settings.logLevel == .info)
    }

    @Test func theEnvironmentMayNameTheFileAndAFlagOverridesIt() {
        let env = ["SWITCHBOARD_CONFIG": "missing.json"]
        #expect(problems(read(plain, env: env)) == ["missing.json: cannot be read"])
        #expect(gateway(read(plain, env: env, file: "{}")) != nil)
    }

    /// A package's script shows the line to the operator, who finds nothing in a path alone.
    @Test func aLongPathDoesNotHideTheKey() {
        let path = String(repeating: "folder/", count: 100) + "gateway.json"
        let key = String(repeating: "k", count: 200)
        let result = Configuration.CommandLine.parse(
            arguments: plain.split(separator: " ").map { String($0) } + ["--config", path], environment: [:],
            packs: StandardTables.packs
        ) { $0 == path ? Array(#"{"drain-secnds": 3, "\#(key)": 1}"#.utf8) : nil }
        let found = problems(result)
        #expect(found.contains(path + ": drain-secnds: unknown key; did you mean drain-seconds?"))
        #expect(found.contains { $0.hasPrefix(path + ": " + key.prefix(120) + "...: unknown key") })
    }

    @Test func theReportShowsTheEndOfALongPath() throws {
        let path = String(repeating: "folder/", count: 100) + "gateway.json"
        let secret = String(repeating: "folder/", count: 100) + "jwt-secret"
        let result = Configuration.CommandLine.parse(
            arguments: plain.split(separator: " ").map { String($0) } + ["--config", path], environment: [:],
            packs: StandardTables.packs
        ) { $0 == path ? Array(#"{"jwt-secret-file": "\#(secret)"}"#.utf8) : nil }
        let report = try #require(gateway(result)).describe()
        #expect(report.contains(secret + "  (" + path + ": jwt-secret-file)\n"))
    }

    @Test func repeatableSettingsTakeSeveralValuesInEverySource() throws {
        let flags = try #require(
            gateway(read(plain + " --allow-origin https://a.example --allow-origin=https://b.example:8443")))
        #expect(flags.allowOrigins == ["https://a.example", "https://b.example:8443"])
        let env = ["SWITCHBOARD_TRUST_PROXY": "10.0.0.0/8, ::1", "SWITCHBOARD_LIMIT": "pingMs=1,pongMs=2"]
        let variables = try #require(gateway(read(plain, env: env)))
        #expect(variables.trustProxies.count == 2)
        #expect(variables.limits.pingMs == 1 && variables.limits.pongMs == 2)
        let file = try #require(gateway(read(plain, file: #"{"jwt-key": ["a.pem", "b.pem"]}"#)))
        #expect(file.jwtKeys == ["a.pem", "b.pem"])
    }

    @Test(arguments: [
        ("--lisen 1:2", "--lisen: unknown flag; did you mean --listen?"),
        ("--no-echo", "--no-echo: unknown flag; did you mean --echo=false?"),
        ("--user u1", "--user: not a flag of gateway; it belongs to token"),
        ("--namespaces x", #"--namespaces: there is no such flag; set "namespaces" in the config file"#),
        ("--qqqqqqqq", "--qqqqqqqq: unknown flag; `switchboard help gateway` lists them all"),
        ("--redis", "--redis: needs a value: --redis URL"),
        ("--redis --echo", "--redis: needs a value: --redis URL"),
        ("--echo false", "--echo: write --echo=false"),
        ("--shards 1 --shards 2", "--shards: given twice; it takes one value"),
        ("--shards=", "--shards: expected a value; leave the setting out to use its default"),
        ("-listen x", "switchboard gateway: -listen: flags begin with two dashes; did you mean --listen?"),
        ("stray", #"switchboard gateway: unexpected word "stray""#),
        ("--log txet", #"--log: expected one of text, json; did you mean text?; got "txet""#),
        ("--cert x", "--cert: unknown flag; did you mean --tls-cert?"),
    ])
    func aWrongFlagIsNamedWithItsCure(flags: String, expected: String) {
        #expect(problems(read(plain + " " + flags)).first == expected)
    }

    @Test(arguments: [
        (
            "SWITCHBOARD_REDIS_PREFX", "a",
            "SWITCHBOARD_REDIS_PREFX: unknown variable; did you mean SWITCHBOARD_REDIS_PREFIX?"
        ),
        ("SWITCHBOARD_QQQQQQQQ", "a", "SWITCHBOARD_QQQQQQQQ: unknown variable"),
        ("SWITCHBOARD_NAMESPACES", "a", "SWITCHBOARD_NAMESPACES: not a variable; set it in the config file"),
        ("SWITCHBOARD_USER", "a", "SWITCHBOARD_USER: not a variable; set it with --user"),
        ("SWITCHBOARD_SHARDS", "x", #"SWITCHBOARD_SHARDS: expected a whole number from 0 to 1024; got "x""#),
        ("SWITCHBOARD_ECHO", "1", #"SWITCHBOARD_ECHO: expected one of true, false; got "1""#),
    ])
    func aWrongVariableIsNamedWithItsCure(name: String, value: String, expected: String) {
        #expect(problems(read(plain, env: [name: value])) == [expected])
    }

    @Test func anEmptyVariableIsAnErrorAndNeverTurnsACheckOff() {
        let found = problems(read(plain + " --jwks k.json", env: ["SWITCHBOARD_JWT_AUDIENCE": ""]))
        #expect(found == ["SWITCHBOARD_JWT_AUDIENCE: expected a value; leave the setting out to use its default"])
    }

    @Test func variablesOfOtherCommandsAndOfKubernetesAreIgnored() {
        let env = [
            "SWITCHBOARD_URL": "https://x", "SWITCHBOARD_SERVICE_HOST": "10.0.0.1", "SWITCHBOARD_SERVICE_PORT": "443",
            "SWITCHBOARD_SERVICE_PORT_TLS": "443", "SWITCHBOARD_PORT": "tcp://10.0.0.1:443",
            "SWITCHBOARD_PORT_443_TCP": "tcp://10.0.0.1:443", "SWITCHBOARD_PORT_443_TCP_ADDR": "10.0.0.1",
            "SWITCHBOARD_GATEWAY_PORT_443_TCP_PROTO": "tcp",
        ]
        #expect(gateway(read(plain, env: env)) != nil)
        guard case .run(.dev(let dev)) = read("dev", env: env) else {
            Issue.record("dev was refused")
            return
        }
        #expect(dev.port == 8_443)
    }

    @Test(arguments: [
        (#"{"redis-prefx": "a"}"#, "c.json: redis-prefx: unknown key; did you mean redis-prefix?"),
        (#"{"limit": {}}"#, "c.json: limit: unknown key; did you mean limits?"),
        (#"{"config": "x"}"#, "c.json: config: not a key of the config file; set it with --config"),
        (#"{"port": 1}"#, "c.json: port: not a setting of gateway; it belongs to dev"),
        (#"{"shards": "4"}"#, "c.json: shards: expected a whole number; got a string"),
        (
            #"{"shards": 1.5}"#,
            "c.json: shards: expected a whole number; got a number with a fraction, an exponent, or out of range"
        ),
        (#"{"shards": 4000}"#, #"c.json: shards: expected a whole number from 0 to 1024; got "4000""#),
        (#"{"echo": "true"}"#, "c.json: echo: expected true or false; got a string"),
        (#"{"redis": null}"#, "c.json: redis: expected a string; got null"),
        (#"{"jwt-key": 1}"#, "c.json: jwt-key: expected an array of strings; got a number"),
        (#"{"jwt-key": [1]}"#, "c.json: jwt-key: expected strings in the array; got a number"),
        (#"{"limits": []}"#, #"c.json: limits: expected an object of limits, e.g. {"connectionsMax": 50000}"#),
        (#"{"limits": {"pingMS": 1}}"#, "c.json: limits.pingMS: unknown limit; did you mean pingMs?"),
        (#"{"limits": {"pingMs": true}}"#, "c.json: limits.pingMs: expected a whole number; got a boolean"),
        (
            #"{"limits": {"batchMax": 5000}}"#,
            #"c.json: limits.batchMax: expected batchMax as a whole number from 1 to 4096; got "batchMax=5000""#
        ),
        ("[]", "c.json: expected an object with settings"),
        ("{\n\"shards\": 1,\n}", "c.json: not valid JSON at line 3"),
        ("{\n\"log\": \"text\n}", "c.json: not valid JSON at line 2"),
        (#"{"shards": 1, "shards": 2}"#, "c.json: a member name occurs twice in one object at line 1"),
    ])
    func aWrongKeyIsNamedWithItsCure(file: String, expected: String) {
        #expect(problems(read(plain, file: file)) == [expected])
    }

    @Test func aFileBeyondItsSizeIsRefused() {
        let padding = String(repeating: " ", count: 1_048_576)
        #expect(gateway(read(plain, file: "{}" + padding.dropLast(2))) != nil)
        #expect(problems(read(plain, file: "{}" + padding)) == ["c.json: larger than 1048576 bytes"])
    }

    @Test func oneFileServesGatewayCheckAndToken() {
        let file = #"{"listen-plain": "127.0.0.1:1", "jwt-secret-file": "s", "redis": "unix:///r.sock"}"#
        #expect(gateway(read("gateway", file: file))?.jwtSecretFiles == [KeyFile(path: "s")])
        guard case .run(.check(let checked)) = read("check", file: file) else {
            Issue.record("the check was refused")
            return
        }
        #expect(checked.redis == "unix:///r.sock")
        guard case .run(.token(let token)) = read("token --user u1", file: file) else {
            Issue.record("the token was refused")
            return
        }
        #expect(token.signer == .secretFile(KeyFile(path: "s")))
    }

    @Test func allProblemsOfAllSourcesAreTold() {
        let env = ["SWITCHBOARD_SHARD": "1", "SWITCHBOARD_LOG": "xml"]
        let found = problems(read("gateway --lisen x --redis http://r", env: env, file: #"{"echo": 1, "jwkss": "k"}"#))
        #expect(found.count == 7)
        for place in [
            "--lisen", "--redis", "SWITCHBOARD_SHARD:", "SWITCHBOARD_LOG", "echo", "jwkss", "nothing to listen",
        ] {
            #expect(found.contains { $0.contains(place) }, "\(place)")
        }
    }

    @Test func aMistakeHiddenUnderAStrongerSourceIsStillTold() {
        #expect(problems(read(plain + " --shards 2", env: ["SWITCHBOARD_SHARDS": "two"])).count == 1)
    }
}
