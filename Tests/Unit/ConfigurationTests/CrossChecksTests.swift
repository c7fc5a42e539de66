import Configuration
import Core
import Testing

private let nothing =
    "switchboard gateway: nothing to listen on; set --listen HOST:PORT (TLS) "
    + "or --listen-plain HOST:PORT (behind a proxy)"

/// Command lines that contradict themselves, and what is said.
private let contradictions: [(String, String)] = [
    (
        "gateway",
        nothing
    ),
    (
        "gateway --ops 127.0.0.1:1",
        nothing
    ),
    ("gateway --listen [::]:1", "--listen: TLS needs --tls-cert and --tls-key"),
    ("gateway --listen [::]:1 --tls-cert c", "--listen: TLS needs --tls-key"),
    (
        "\(plain) --ops 1.2.3.4:5 --listen 1.2.3.4:5 --tls-cert c --tls-key k",
        "--ops: the same address as listen: 1.2.3.4:5"
    ),
    (
        "\(plain) --proxy-protocol plain",
        "--proxy-protocol: needs --trust-proxy: a header is taken from trusted addresses only"
    ),
    ("\(plain) --proxy-protocol both --trust-proxy ::1", "--proxy-protocol: both needs --listen"),
    (
        "gateway --listen [::]:1 --tls-cert c --tls-key k --proxy-protocol plain --trust-proxy ::1",
        "--proxy-protocol: plain needs --listen-plain"
    ),
    (
        "\(plain) --anonymous=false",
        "--anonymous: false leaves nobody who could connect; set --jwt-secret-file, --jwt-key, --jwks or --api-keys"
    ),
    ("\(plain) --jwt-issuer i", "--jwt-issuer: no key verifies tokens; set --jwt-secret-file, --jwt-key or --jwks"),
    (
        "\(plain) --jwks https://x/jwks",
        "--jwks: expected a file; fetch the key set and name the file it is kept in"
    ),
    (
        "\(plain) --drain-seconds 1 --limit drainMs=5000",
        "--drain-seconds: says the same as the limit drainMs; set one of them"
    ),
    ("\(plain) --limit drainGraceMs=20001", "--limit: drainGraceMs (20001) must not exceed drainMs (20000)"),
    (
        "\(plain) --limit redisBackOffMaxMs=50",
        "--limit: redisBackOffMinMs (100) must not exceed redisBackOffMaxMs (50)"
    ),
]

/// How settings fit together.
@Suite struct CrossChecksTests {
    @Test(arguments: contradictions)
    func aContradictionIsTold(arguments: String, expected: String) {
        #expect(problems(read(arguments)) == [expected])
    }

    @Test(arguments: [
        plain, "check --listen-plain 127.0.0.1:0", "gateway --listen [::]:1 --tls-cert c --tls-key k",
        plain + " --ops 127.0.0.1:0", plain + " --proxy-protocol plain --trust-proxy ::1",
        plain + " --anonymous=false --api-keys a", plain + " --jwt-audience a --jwt-key k",
        plain + " --limit drainGraceMs=20000",
    ])
    func whatFitsIsTaken(arguments: String) {
        #expect(gateway(read(arguments)) != nil, "\(problems(read(arguments)))")
    }

    @Test func aSettingThatIsWrongIsNotAlsoCalledMissing() {
        #expect(problems(read("gateway --listen-plain nonsense")).count == 1)
    }

    @Test func drainSecondsIsTheLimitAndTheStrongerPlaceWins() throws {
        #expect(try #require(gateway(read(plain + " --drain-seconds 3"))).limits.drainMs == 3_000)
        let file = #"{"drain-seconds": 3}"#
        let settings = try #require(gateway(read(plain + " --limit drainMs=1500", file: file)))
        #expect(settings.limits.drainMs == 1_500)
        #expect(settings.describe().contains("1500 ms"))
        let other = try #require(gateway(read(plain + " --drain-seconds 4", file: #"{"limits": {"drainMs": 9}}"#)))
        #expect(other.limits.drainMs == 4_000)
    }
}
