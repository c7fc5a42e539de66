import Testing

@testable import switchboard_bench

@Suite struct VoteLedgerTests {
    /// Everybody in turn, each no more than the window, and again after an answer.
    @Test func windowsAreKept() {
        var ledger = VoteLedger(users: 2, window: 2)
        let users = (0..<5).map { ledger.begin(dueUs: $0)?.user }
        #expect(users == [0, 1, 0, 1, nil])
        #expect(ledger.underWay == 4)
        // The oldest of the user's votes is answered.
        #expect(ledger.answered(1) == 1)
        #expect(ledger.answered(1) == 3)
        #expect(ledger.answered(1) == nil)
        #expect(ledger.underWay == 2)
        let next = ledger.begin(dueUs: 9)
        #expect(next?.user == 1)
        #expect(next?.ref == 3)
    }

    /// A vote that is the user's last on the track would change nothing.
    @Test func everyVoteChangesSomething() throws {
        var ledger = VoteLedger(users: 1, window: 1)
        var last: [Int: Bool] = [:]
        for number in 0..<5 * VoteLedger.tracks {
            let begun = ledger.begin(dueUs: number)
            let vote = try #require(begun)
            #expect(last[vote.track] != vote.isUp, "vote \(number)")
            last[vote.track] = vote.isUp
            #expect(ledger.answered(0) == number)
        }
        #expect(last.count == VoteLedger.tracks)
    }

    /// No answer comes to a connection that is over, and nobody votes over it.
    @Test func whoLeftIsNotWaitedFor() {
        var ledger = VoteLedger(users: 2, window: 2)
        for number in 0..<4 { _ = ledger.begin(dueUs: number) }
        ledger.left(0)
        #expect(ledger.underWay == 2)
        #expect(ledger.answered(0) == nil)
        #expect(ledger.answered(1) == 1)
        #expect(ledger.begin(dueUs: 9)?.user == 1)
        #expect(ledger.begin(dueUs: 9) == nil)
        ledger.left(1)
        #expect(ledger.underWay == 0)
        #expect(ledger.begin(dueUs: 9) == nil)
    }

    @Test func namesOfUsers() {
        #expect(VoteBehaviour.user(0) == "u000000000000")
        #expect(VoteBehaviour.user(123_456) == "u000000123456")
    }
}

@Suite struct ShopQueueTests {
    /// One change at a time, by command and straight in Redis in turn; over when all have heard and it was answered.
    @Test func changesTakeTurns() throws {
        var shop = ShopQueue()
        let begun = shop.begin(dueUs: 10, subscribers: [1, 2])
        let first = try #require(begun)
        #expect(first.way == .command)
        #expect(first.length == 1)
        #expect(shop.begin(dueUs: 11, subscribers: [1, 2]) == nil)
        #expect(shop.heard(1, length: 0) == nil, "what stood before is not the change")
        #expect(shop.heard(1, length: 1)?.isLast == false)
        #expect(shop.heard(1, length: 1) == nil, "once for each subscriber")
        #expect(shop.heard(2, length: 1)?.isLast == true)
        #expect(shop.begin(dueUs: 12, subscribers: [1, 2]) == nil, "not answered yet")
        #expect(shop.answered(isRefused: false) == 0)
        let begunNext = shop.begin(dueUs: 13, subscribers: [1, 2])
        let second = try #require(begunNext)
        #expect(second.way == .redis)
        #expect(second.length == 0)
    }

    @Test func aChangeThatWasRefusedReachesNobody() {
        var shop = ShopQueue()
        _ = shop.begin(dueUs: 10, subscribers: [1, 2])
        #expect(shop.answered(isRefused: true) == 2)
        #expect(shop.heard(1, length: 1) == nil)
        #expect(shop.begin(dueUs: 11, subscribers: [1])?.way == .redis)
    }

    @Test func aChangeNobodyHearsOfIsGivenUp() {
        var shop = ShopQueue()
        _ = shop.begin(dueUs: 10, subscribers: [1, 2])
        #expect(shop.answered(isRefused: false) == 0)
        #expect(shop.heard(1, length: 1)?.isLast == false)
        #expect(shop.giveUp(nowUs: 109, afterUs: 100) == 0)
        #expect(shop.change != nil)
        #expect(shop.giveUp(nowUs: 111, afterUs: 100) == 1)
        #expect(shop.change == nil)
        #expect(shop.heard(2, length: 1) == nil, "too late")
        #expect(shop.begin(dueUs: 112, subscribers: [1])?.way == .redis)
    }

    /// Every shop is of one process.
    @Test func shopsOfProcesses() {
        let all = (0..<3).map { QueueBehaviour.shops(ofProcess: $0, of: 3, topics: 8) }
        #expect(all == [[0, 3, 6], [1, 4, 7], [2, 5]])
    }
}

@Suite struct ReturnTests {
    private func back(_ afterUs: [Int], of clients: Int) -> HerdReturn {
        HerdReturn(
            clients: clients,
            returns: afterUs.enumerated().map { .init(client: $0.offset, lostUs: 1_000, liveUs: 1_000 + $0.element) })
    }

    /// Of ten: the fifth, the ninth, the tenth; rounded up, so that never fewer are back than was said.
    @Test func percentOfTheHerd() {
        let herd = back([700, 100, 200, 300, 400, 500, 600, 1_000, 800, 900], of: 10)
        #expect(herd.backUs(percent: 50) == 500)
        #expect(herd.backUs(percent: 90) == 900)
        #expect(herd.backUs(percent: 99) == 1_000)
        #expect(herd.backUs(percent: 100) == 1_000)
        #expect(herd.backUs(percent: 1) == 100)
        #expect(herd.perSecond == 10_000_000.0 / 900)
    }

    /// Who did not come back counts: the share is of all clients.
    @Test func thoseWhoStayedAway() {
        let herd = back([100, 200], of: 4)
        #expect(herd.backUs(percent: 50) == 200)
        #expect(herd.backUs(percent: 51) == nil)
        #expect(herd.backUs(percent: 100) == nil)
        let none = HerdReturn(clients: 3, returns: [])
        #expect(none.backUs(percent: 50) == nil)
        #expect(none.perSecond == nil)
    }

    /// A client that was lost again on its way is back when it stays; the loss is the first of all.
    @Test func theLastReturnCounts() {
        let herd = HerdReturn(
            clients: 2,
            returns: [
                .init(client: 0, lostUs: 50, liveUs: 150), .init(client: 1, lostUs: 60, liveUs: 90),
                .init(client: 0, lostUs: 200, liveUs: 450),
            ])
        #expect(herd.lossUs == 50)
        #expect(herd.count == 2)
        #expect(herd.backUs(percent: 50) == 40)
        #expect(herd.backUs(percent: 100) == 400)
    }

    /// Full jitter: anything up to a ceiling that doubles to 5 s, and starts again after a success.
    @Test func pausesDoubleToAnEnd() {
        var pause = JitteredPause()
        for round in 0..<2 {
            var ceilingMs = 100
            for _ in 0..<10 {
                let found = pause.next()
                #expect((0...ceilingMs).contains(found), "round \(round), ceiling \(ceilingMs)")
                ceilingMs = min(ceilingMs * 2, 5_000)
            }
            pause.succeeded()
        }
        // After a thousand pauses at the ceiling, one was in its upper half.
        for _ in 0..<6 { _ = pause.next() }
        let longest = (0..<1_000).map { _ in pause.next() }.max() ?? 0
        #expect(longest > 2_500)
        #expect(longest <= 5_000)
    }

    @Test func figuresOfProcessesAddUp() {
        var sum = ReturnFigures()
        for number in 1...3 {
            var one = ReturnFigures()
            (one.lost, one.handshakes, one.toldMissed) = (number, 2 * number, 5)
            one.returns = [.init(client: number, lostUs: 1, liveUs: 2)]
            one.connect.add(number)
            sum.merge(one)
        }
        #expect(sum.lost == 6)
        #expect(sum.handshakes == 12)
        #expect(sum.toldMissed == 15)
        #expect(sum.returns.map(\.client) == [1, 2, 3])
        #expect(sum.connect.count == 3)
    }

    /// Exactly so many are slow, spread over all.
    @Test(arguments: [(1, 10), (3, 10), (7, 10), (200, 2_000), (9, 10)])
    func slowOnesAreSpread(_ slow: Int, _ all: Int) {
        let numbers = (0..<all).filter { SlowBehaviour.isSlow($0, slow: slow, of: all) }
        #expect(numbers.count == slow)
        let gaps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }
        #expect((gaps.max() ?? 0) <= (all + slow - 1) / slow)
    }
}
