import RedisLink
import Testing

@Suite struct ClusterAttemptsTests {
    private func failure(_ line: String) -> RedisFailure { RedisFailure(reply: bytes(line)) }

    private func expect(
        _ tries: inout ClusterAttempts, _ failure: RedisFailure, nowMs: Int, _ step: ClusterAttempts.Step,
        _ hint: ClusterAttempts.Hint, _ location: SourceLocation = #_sourceLocation
    ) {
        let (done, told) = tries.failed(failure, isKnown: { _ in true }, nowMs: nowMs)
        #expect(done == step, sourceLocation: location)
        #expect(told == hint, sourceLocation: location)
    }

    @Test func aMovedCallGoesToTheSlotsNewMasterAtMostFiveTimes() {
        var tries = ClusterAttempts(deadlineMs: 10_000)
        let line = "MOVED 8000 127.0.0.1:7002"
        let hint = ClusterAttempts.Hint.moved(slot: 8_000, ClusterAddress(host: "127.0.0.1", port: 7_002))
        for pauseMs in [0, 10, 50, 100, 100] {
            let (step, told) = tries.failed(failure(line), isKnown: { _ in true }, nowMs: 0)
            #expect(step == .again(afterMs: pauseMs))
            #expect(told == hint)
        }
        expect(&tries, failure(line), nowMs: 0, .finish, hint)
    }

    @Test func aCallForAMasterThatIsNewWaitsForTheMap() {
        var tries = ClusterAttempts(deadlineMs: 1_000)
        var nowMs = 0
        var count = 0
        while true {
            let (step, hint) = tries.failed(failure("MOVED 1 b:2"), isKnown: { _ in false }, nowMs: nowMs)
            #expect(hint == .moved(slot: 1, ClusterAddress(host: "b", port: 2)))
            guard case .again(let afterMs) = step else { break }
            nowMs += afterMs
            count += 1
        }
        #expect(nowMs > 800 && nowMs < 1_000)
        #expect(count > ClusterAttempts.redirectsMax)
    }

    @Test func anAskedCallGoesThereOnceAndTheMapStays() {
        var tries = ClusterAttempts(deadlineMs: 10_000)
        let (step, hint) = tries.failed(failure("ASK 8000 10.0.0.2:7001"), isKnown: { _ in true }, nowMs: 0)
        #expect(step == .ask(ClusterAddress(host: "10.0.0.2", port: 7_001)))
        #expect(hint == .none)
    }

    @Test func aMovingSlotIsWaitedForUntilTheDeadline() {
        var tries = ClusterAttempts(deadlineMs: 100)
        var nowMs = 0
        var pauses: [Int] = []
        while case (.again(let afterMs), _) = tries.failed(
            failure("TRYAGAIN Multiple keys request"), isKnown: { _ in true }, nowMs: nowMs)
        {
            pauses.append(afterMs)
            nowMs += afterMs
        }
        #expect(pauses == [10, 20, 40])
        #expect(nowMs < 100)
    }

    @Test(arguments: [
        "CLUSTERDOWN The cluster is down", "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down", "BUSY Redis is busy running a script",
        "NOREPLICAS Not enough good replicas",
    ])
    func aMasterThatIsAwayIsWaitedFor(_ line: String) {
        var tries = ClusterAttempts(deadlineMs: 1_000)
        expect(&tries, failure(line), nowMs: 0, .again(afterMs: 250), .stale)
        expect(&tries, failure(line), nowMs: 800, .finish, .stale)
    }

    @Test(arguments: [
        "CLUSTERDOWN The cluster is down script: 1d2c, on @user_script:7.",
        "ERR Script attempted to access a non local key in a cluster node script: 1d2c, on @user_script:9.",
        "CROSSSLOT Keys in request don't hash to the same slot", "WRONGTYPE Operation against a key", "BADARG no",
    ])
    func whatMayHaveRunIsNotSentAgain(_ line: String) {
        var tries = ClusterAttempts(deadlineMs: 1_000)
        let (step, _) = tries.failed(failure(line), isKnown: { _ in true }, nowMs: 0)
        #expect(step == .finish)
    }

    @Test func aDemotedMasterIsTriedOnceMoreAndALostAnswerIsNot() {
        var tries = ClusterAttempts(deadlineMs: 1_000)
        let line = failure("READONLY You can't write against a read only replica.")
        expect(&tries, line, nowMs: 0, .again(afterMs: 50), .stale)
        expect(&tries, line, nowMs: 0, .finish, .stale)
        expect(&tries, RedisFailure(.disconnected), nowMs: 0, .finish, .stale)
        expect(&tries, RedisFailure(.timedOut), nowMs: 0, .finish, .stale)
    }

    @Test(arguments: [
        "MOVED 16384 127.0.0.1:1", "MOVED -1 127.0.0.1:1", "MOVED 1 127.0.0.1:0", "MOVED 1 127.0.0.1:65536", "MOVED 1",
        "MOVED 1 127.0.0.1", "MOVED  1", "MOVED 1 h\u{2028}:1", "MOVED 18446744073709551616 h:1", "ASK", "MOVEDX 1 h:1",
        "MOVED 1 a:1 more",
    ])
    func aBrokenRedirectionIsNone(_ line: String) {
        #expect(Redirection(bytes(line)) == nil)
    }

    @Test func anAddressWithoutAHostIsTheOneThatAnswered() throws {
        let redirection = try #require(Redirection(bytes("MOVED 3999 :6381")))
        #expect(redirection.address.asked(at: "redis-3").description == "redis-3:6381")
        #expect(try #require(ClusterAddress(bytes("2001:db8::1:6379"))).description == "[2001:db8::1]:6379")
        #expect(try #require(ClusterAddress(bytes("?:6379"))).host.isEmpty)
    }
}
