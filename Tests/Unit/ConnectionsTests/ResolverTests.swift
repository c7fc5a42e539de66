import Core
import Glibc
import Reactors
import Testing

@testable import Connections

@Suite struct ResolverTests {
    /// Looks a name up; `nil` when no answer came.
    static func resolve(_ host: String) throws -> [IPAddress]? {
        let reactor = try Reactor(wake: try Wake())
        let guardian = try ReactorTimer(reactor) { reactor.stop() }
        guardian.set(atMs: Clock.monotonicMs() + 30_000)
        var answer: [IPAddress]?
        try Resolver.resolve(host, on: reactor) { addresses in
            answer = addresses
            guardian.set(atMs: 0)
        }
        reactor.run()
        return answer
    }

    @Test func aNumericAddressIsItsOwnAnswerAtOnce() throws {
        let reactor = try Reactor(wake: try Wake())
        var answers: [[IPAddress]] = []
        let resolver = try Resolver.resolve("192.0.2.7", on: reactor) { answers.append($0) }
        #expect(resolver == nil)
        #expect(answers == [[IPAddress(192, 0, 2, 7)]])
    }

    @Test func aNameIsLookedUp() throws {
        let addresses = try #require(try ResolverTests.resolve("localhost"))
        let one = IPAddress(127, 0, 0, 1)
        let six = try #require(IPAddress(text: "::1".utf8))
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0 == one || $0 == six })
    }

    @Test func aNameWithoutAddressesHasNone() throws {
        #expect(try ResolverTests.resolve("not a host name") == [])
    }

    static func mappings() -> Int {
        var count = 0
        guard let file = unsafe fopen("/proc/self/maps", "r") else { return -1 }
        defer { unsafe fclose(file) }
        while true {
            let byte = unsafe fgetc(file)
            if byte == EOF { return count }
            if byte == 10 { count += 1 }
        }
    }

    /// Each look-up used to leave the stack of its thread behind.
    ///
    /// A gateway that could not reach Redis for long ran out of memory mappings.
    /// In a process of its own, since it counts the process's mappings.
    @Test func aLookUpLeavesNoThreadBehind() async {
        await #expect(processExitsWith: .success) {
            _ = try ResolverTests.resolve("localhost")
            let before = ResolverTests.mappings()
            for _ in 0..<150 { _ = try ResolverTests.resolve("localhost") }
            let grown = ResolverTests.mappings() - before
            precondition(grown < 100, "mappings left: \(grown)")
        }
    }
}
