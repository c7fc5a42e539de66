import Core
import Testing

@testable import Rights

@Suite struct KeptBudgetTests {
    static let sizes = KeptBudget.Sizes(address: 100_000, user: 200_000, namespace: 1_000_000, placesMax: 64)
    let user = Payer.user(Array("u1".utf8))

    private func topic(_ number: Int) throws -> Topic { try #require(Topic("wall:\(number)")) }

    /// An event that takes so many bytes of Redis.
    private func event(_ bytes: Int, events: Int = 100, bytesMax: Int? = nil, seconds: Int = 100) -> KeptEvent {
        KeptEvent(bytes: bytes - KeptEvent.overheadBytes, eventsMax: events, bytesMax: bytesMax, seconds: seconds)
    }

    /// Why an event could not be kept; `nil` when it was.
    private func pay(
        _ budget: inout KeptBudget, _ payer: Payer, _ event: KeptEvent, on topic: Topic, nowMs: Int
    ) -> KeptBudget.Shortage? {
        do throws(KeptBudget.Shortage) {
            _ = try budget.keep(payer, event, on: topic, nowMs: nowMs)
            return nil
        } catch {
            return error
        }
    }

    /// Publishes on ever-new topics as fast as the budget lets it; returns how many events were published.
    private func flood(_ budget: inout KeptBudget, _ bytes: Int, from startMs: Int = 0, until endMs: Int)
        throws -> Int
    {
        var (nowMs, published) = (startMs, 0)
        while nowMs <= endMs {
            let topic = try topic(1_000 * startMs + published)
            switch pay(&budget, user, event(bytes), on: topic, nowMs: nowMs) {
            case nil: published += 1
            case .payer(let waitMs), .namespace(let waitMs): nowMs += waitMs
            }
        }
        return published
    }

    @Test func aFloodKeepsWhatTheBudgetAllowsAndTwiceAsMuchAtMost() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        let price = 10_000 + KeptEvent.topicBytes
        let atOnce = try flood(&budget, 10_000, until: 0)
        #expect(atOnce == 200_000 / price)
        #expect(try flood(&budget, 10_000, from: 1, until: 100_000) + atOnce == 400_000 / price)
    }

    @Test func othersAndServicesAreNotHeldUp() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        _ = try flood(&budget, 10_000, until: 0)
        #expect(pay(&budget, .user(Array("u2".utf8)), event(10_000), on: try topic(0), nowMs: 0) == nil)
        #expect(pay(&budget, .service(Array("s".utf8)), event(900_000), on: try topic(0), nowMs: 0) == nil)
        let elsewhere = try #require(Topic("room:1"))
        #expect(
            pay(&budget, user, event(10_000), on: elsewhere, nowMs: 0) == nil, "its budget is its own")
    }

    @Test func allOfANamespaceHaveABudgetTogether() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<5 {
            let payer = Payer.user(Array("u\(number)".utf8))
            #expect(pay(&budget, payer, event(190_000), on: try topic(number), nowMs: 0) == nil)
        }
        let late = Payer.user(Array("late".utf8))
        guard case .namespace(let waitMs)? = pay(&budget, late, event(100_000), on: try topic(9), nowMs: 0) else {
            Issue.record("the namespace had room for more than its budget")
            return
        }
        #expect(pay(&budget, late, event(100_000), on: try topic(9), nowMs: waitMs - 1) != nil)
        #expect(pay(&budget, late, event(100_000), on: try topic(9), nowMs: waitMs) == nil, "the wait is true")
        #expect(pay(&budget, .crowd, event(999_000), on: try topic(9), nowMs: 0) != nil)
    }

    /// An event in the place of an older one adds nothing: a busy topic is not a growing one.
    @Test func aFullLogIsPaidForAsLongAsItLives() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<2_000 {
            let shortage = pay(&budget, user, event(1_500), on: try topic(1), nowMs: number * 100)
            #expect(shortage == nil, "\(number)")
        }
        // It holds 150,000 bytes, which cost 1,550 of the 2,000 that flow in each second.
        var others = 0
        for number in 2..<1_000 where pay(&budget, user, event(10_000), on: try topic(number), nowMs: 200_000) == nil {
            others += 1
        }
        #expect((8...10).contains(others), "\(others)")
    }

    /// Small events first, then large ones in their place: the difference is paid for.
    @Test func largeEventsInPlaceOfSmallOnesArePaidFor() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for _ in 0..<100 { #expect(pay(&budget, user, event(130), on: try topic(1), nowMs: 0) == nil) }
        var large = 0
        while pay(&budget, user, event(10_000), on: try topic(1), nowMs: 0) == nil, large < 1_000 { large += 1 }
        #expect((15...25).contains(large), "\(large)")
    }

    @Test func aLogThatIsBoundInBytesCostsNoMore() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<1_000 {
            let bound = event(10_000, bytesMax: 50_000)
            #expect(pay(&budget, user, bound, on: try topic(1), nowMs: number) == nil, "\(number)")
        }
    }

    /// A topic that lives on by an event now and then keeps its older events as well.
    @Test func whatLivesLongerIsPaidForAgain() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        var logs = Array(repeating: (bytes: 0, atMs: 0), count: 20)
        var most = 0
        for number in 0..<1_000 {
            let (topic, nowMs) = (number % 20, number * 5_000)
            // A log ends an eighth behind its life at the latest; each topic is tried once in its life.
            for index in logs.indices where nowMs - logs[index].atMs > 112_500 { logs[index].bytes = 0 }
            guard pay(&budget, user, event(10_000), on: try self.topic(topic), nowMs: nowMs) == nil else { continue }
            logs[topic] = (logs[topic].bytes + 10_000, nowMs)
            most = max(most, logs.reduce(0) { $0 + $1.bytes })
        }
        #expect((200_000...300_000).contains(most), "\(most) bytes, and the budget has 200,000")
    }

    /// A reply of Redis that told nearly all that an integer holds ended the gateway.
    @Test func noNumberOfBytesIsTooLargeToCount() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        let huge = KeptEvent(bytes: .max, eventsMax: 100, bytesMax: nil, seconds: 100)
        budget.charge(user, huge, on: try topic(1), nowMs: 0)
        #expect(pay(&budget, user, event(1_000), on: try topic(2), nowMs: 0) != nil)
        for nowMs in [99_000_000, 99_100_000] { budget.charge(user, huge, on: try topic(1), nowMs: nowMs) }
    }

    /// Callers of a command that keeps nothing shut everybody out of its namespace.
    @Test func argumentsOfCommandsTakeNothingFromTheBudgetOfAll() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<20 {
            let payer = Payer.user(Array("c\(number)".utf8))
            #expect(budget.pay(payer, event(190_000), in: Array("wall".utf8), nowMs: 0) == nil)
        }
        #expect(pay(&budget, user, event(10_000), on: try topic(1), nowMs: 0) == nil)
    }

    @Test func aCommandPaysForItsArguments() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        let (payer, wall) = (Payer.address(try #require(IPAddress(text: "192.0.2.1".utf8))), Array("wall".utf8))
        for _ in 0..<10 { #expect(budget.pay(payer, event(10_000), in: wall, nowMs: 0) == nil) }
        #expect(budget.pay(payer, event(1_000), in: wall, nowMs: 0) == .payer(waitMs: 1_000))
        #expect(budget.pay(payer, event(1_000), in: wall, nowMs: 1_000) == nil)
    }

    /// One log with many writers was charged to its namespace once for each of them.
    @Test func aLogThatManyShareIsChargedToItsNamespaceOnce() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<50 {
            let payer = Payer.user(Array("u\(number)".utf8))
            let event = event(20_000, events: 10)
            #expect(pay(&budget, payer, event, on: try topic(1), nowMs: 0) == nil, "\(number)")
        }
        // It holds 200,000 bytes; there is room for 790,000 more.
        for number in 0..<4 {
            let payer = Payer.user(Array("v\(number)".utf8))
            #expect(pay(&budget, payer, event(190_000), on: try topic(2 + number), nowMs: 0) == nil, "\(number)")
        }
        #expect(pay(&budget, .user(Array("w".utf8)), event(100_000), on: try topic(9), nowMs: 0) != nil)
    }

    /// Others kept a log alive by small events, and nobody paid for the large ones in it.
    @Test func aNamespacePaysForTheLongerLifeOfAWholeLog() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        #expect(pay(&budget, user, event(190_000), on: try topic(1), nowMs: 0) == nil)
        let other = Payer.user(Array("other".utf8))
        #expect(pay(&budget, other, event(130), on: try topic(1), nowMs: 100_000) == nil)
        // Of a million 195,000 are gone: there is room for four more such events.
        let answers = try (0..<5).map { number in
            let payer = Payer.user(Array("v\(number)".utf8))
            return pay(&budget, payer, event(190_000), on: try topic(2 + number), nowMs: 100_000) == nil
        }
        #expect(answers == [true, true, true, true, false])
    }

    /// Addresses are cheaper than accounts: a caller with enough of them shut all users out.
    @Test func anonymousCallersLeaveHalfOfTheNamespaceToUsers() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        var kept = 0
        for number in 0..<20 {
            let payer = Payer.address(try #require(IPAddress(text: Array("192.0.2.\(number)".utf8))))
            if pay(&budget, payer, event(90_000), on: try topic(number), nowMs: 0) == nil { kept += 1 }
        }
        #expect(kept == 500_000 / (90_000 + KeptEvent.topicBytes))
        guard case .namespace? = pay(&budget, .crowd, event(90_000), on: try topic(20), nowMs: 0) else {
            Issue.record("callers at unknown addresses had a share of their own")
            return
        }
        #expect(pay(&budget, user, event(190_000), on: try topic(21), nowMs: 0) == nil)
    }

    /// The bucket that callers without a place share was full again after a second.
    @Test func aCallerWithoutAPlaceInTheTableWaitsAsLongAsOthers() throws {
        var sizes = KeptBudgetTests.sizes
        sizes.placesMax = 1
        var budget = KeptBudget(sizes)
        let late = Payer.user(Array("late".utf8))
        #expect(pay(&budget, user, event(10_000), on: try topic(1), nowMs: 0) == nil)
        #expect(pay(&budget, late, event(190_000), on: try topic(2), nowMs: 0) == nil)
        #expect(pay(&budget, late, event(190_000), on: try topic(3), nowMs: 2_000) != nil)
        #expect(pay(&budget, late, event(190_000), on: try topic(3), nowMs: 100_000) == nil)
    }

    /// An event of a busy topic counted as one of a new topic, each time, once others had filled the table.
    @Test func aBusyTopicFindsAPlaceInAFullTable() throws {
        var sizes = KeptBudgetTests.sizes
        sizes.placesMax = 32
        var budget = KeptBudget(sizes)
        for number in 0..<64 {
            let payer = Payer.user(Array("u\(number % 8)".utf8))
            #expect(pay(&budget, payer, event(130), on: try topic(number), nowMs: number) == nil)
        }
        for number in 0..<200 {
            let nowMs = 100 + number
            #expect(pay(&budget, user, event(1_000), on: try topic(100), nowMs: nowMs) == nil, "\(number)")
            guard number % 4 == 0 else { continue }
            let payer = Payer.user(Array("u\(number % 8)".utf8))
            _ = pay(&budget, payer, event(130), on: try topic(200 + number), nowMs: nowMs)
        }
    }

    /// A retry that Redis knew already, and an event that was never sent, stayed paid.
    @Test func anEventThatWasNotKeptIsGivenBack() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<100 {
            let paid = try budget.keep(user, event(50_000), on: try topic(number % 3), nowMs: number)
            budget.giveBack(try #require(paid), nowMs: number)
        }
        #expect(try flood(&budget, 10_000, from: 100, until: 100) == 200_000 / (10_000 + KeptEvent.topicBytes))
    }

    /// An event that is given back makes no room for one that is kept.
    @Test func nobodyGainsByEventsThatAreGivenBack() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        var kept = 0
        for number in 0..<1_000 {
            let paid = try? budget.keep(user, event(9_000, events: 50), on: try topic(1), nowMs: number)
            if let paid { budget.giveBack(paid, nowMs: number) }
            if pay(&budget, user, event(9_000, events: 50), on: try topic(1), nowMs: number) == nil { kept += 1 }
        }
        #expect((20...22).contains(kept), "\(kept): 200,000 bytes and what flows in within a second")
    }

    /// The id of a publish is remembered in a key of its own, and in a busy topic each event has one.
    @Test func anIDIsPaidForAsLongAsItIsRemembered() throws {
        let bare = KeptEvent(bytes: 100, eventsMax: 1, bytesMax: nil, seconds: 1_000)
        let named = KeptEvent(
            bytes: 100, eventsMax: 1, bytesMax: nil, seconds: 1_000, seenBytes: 50, seenSeconds: 300)
        func price(_ event: KeptEvent) -> Int {
            var (logs, sum) = (KeptLogs<Int>(capacity: 1), 0)
            for _ in 0..<100 {
                let price = logs.price(1, event, nowMs: 0)
                logs.note(1, price.after, seconds: 1_000)
                sum += price.bytes
            }
            return sum
        }
        #expect(price(named) - price(bare) == 100 * 250 * 300 / 1_000)
    }

    /// Events that came often lengthened a log's life for nothing: the price of each was rounded down to none.
    @Test func aLongerLifeIsPaidForHoweverOftenItIsLengthened() throws {
        var (logs, longer) = (KeptLogs<Int>(capacity: 1), 0)
        for nowMs in 0...50_000 {
            let price = logs.price(1, event(600), nowMs: nowMs)
            logs.note(1, price.after, seconds: 100)
            if nowMs > 100 { longer += price.bytes }
        }
        // 60,000 bytes and the topic, for half of a log's life.
        #expect((32_000...32_600).contains(longer), "\(longer)")
    }

    /// The events of a command are known only when it is done; the next calls wait for it.
    @Test func whatWasToldAlreadyLeavesADebt() throws {
        var budget = KeptBudget(KeptBudgetTests.sizes)
        let wall = Array("wall".utf8)
        for number in 0..<3 { budget.charge(user, event(90_000), on: try topic(number), nowMs: 0) }
        guard case .payer(let waitMs)? = budget.pay(user, event(1_000), in: wall, nowMs: 0) else {
            Issue.record("there was no debt")
            return
        }
        #expect((43_000...43_500).contains(waitMs), "\(waitMs) ms for 86 kB at 2 kB/s")
        #expect(budget.pay(.user(Array("u2".utf8)), event(1_000), in: wall, nowMs: 0) == nil)
        // A log that is full of such events grows no more.
        var busy = KeptBudget(KeptBudgetTests.sizes)
        for number in 0..<100 { busy.charge(user, event(10_000, bytesMax: 50_000), on: try topic(1), nowMs: number) }
        #expect(busy.pay(user, event(100_000), in: wall, nowMs: 100) == nil)
    }

    @Test func aFullTableForgetsWhatIsOverAndGrowsNoMore() {
        var logs = KeptLogs<Int>(capacity: 4)
        for key in 0..<100 {
            let price = logs.price(key, event(1_000, seconds: 1), nowMs: key * 400)
            logs.note(key, price.after, seconds: 1)
        }
        let again = logs.price(99, event(1_000, seconds: 1), nowMs: 99 * 400)
        #expect(again.after.events == 2 && again.bytes == 1_000, "the newest has a place")
        #expect(logs.price(90, event(1_000, seconds: 1), nowMs: 99 * 400).after.events == 1)
    }
}
