import Core
import TestSupport
import Testing

@testable import Worker

/// Several workers share partitions by a table that keeps the rules of `lease.lua`; their clocks run at different
/// speeds, they pause, die, and lose calls and replies.
@Suite struct LeaseBookTests {
    /// The table in Redis, with its own clock.
    private struct Table {
        var live: [[UInt8]: Int] = [:]
        var leases: [Int: (name: [UInt8], token: Int, untilMs: Int)] = [:]
        var token = 0

        mutating func ask(_ name: [UInt8], _ wanted: [Int], leaseMs: Int, nowMs: Int) -> LeaseTable.Reply {
            live = live.filter { $0.value > nowMs }
            live[name] = nowMs + leaseMs
            leases = leases.filter { $0.value.untilMs > nowMs && ($0.value.name != name || wanted.contains($0.key)) }
            var tokens: [Int: Int] = [:]
            for partition in wanted where leases[partition] == nil || leases[partition]?.name == name {
                if leases[partition] == nil { token += 1 }
                let own = leases[partition]?.token ?? token
                leases[partition] = (name, own, nowMs + leaseMs)
                tokens[partition] = own
            }
            return LeaseTable.Reply(workers: Array(live.keys), tokens: tokens)
        }
    }

    private struct Worker {
        let name: [UInt8]
        var book: LeaseTable
        /// Speed of its clock in thousandths.
        let speed: Int
        let offsetMs: Int
        var pausedUntilMs = 0
        var askMs = 0
        /// The reply on its way: when it comes, and what it is; `nil` when it was lost.
        var reply: (atMs: Int, reply: LeaseTable.Reply?)?

        func clock(_ nowMs: Int) -> Int { nowMs * speed / 1_000 + offsetMs }
    }

    private static let leaseMs = 3_000

    private func worker(_ number: Int, _ random: inout Seeded) -> Worker {
        let name = Array("worker-\(number)".utf8)
        return Worker(
            name: name, book: LeaseTable(name: name, leaseMs: LeaseBookTests.leaseMs),
            speed: Int.random(in: 970...1_030, using: &random),
            offsetMs: Int.random(in: -100_000...100_000, using: &random))
    }

    /// One step of a worker: it takes a reply, lets leases end, asks.
    private func step(_ worker: inout Worker, _ table: inout Table, nowMs: Int, calm: Bool, _ random: inout Seeded) {
        guard nowMs >= worker.pausedUntilMs else { return }
        let clock = worker.clock(nowMs)
        if let (atMs, reply) = worker.reply, atMs <= nowMs {
            worker.reply = nil
            if let reply, worker.book.replied(reply).mustAskAgain { worker.askMs = clock }
        }
        _ = worker.book.expire(nowMs: clock)
        if worker.reply == nil && worker.askMs <= clock {
            worker.askMs = clock + LeaseBookTests.leaseMs / 3
            let wanted = worker.book.ask(nowMs: clock)
            let isLost = !calm && Int.random(in: 0..<20, using: &random) == 0
            let reply = table.ask(worker.name, wanted, leaseMs: LeaseBookTests.leaseMs, nowMs: nowMs)
            let delay = Int.random(in: 1...(calm ? 20 : 400), using: &random)
            worker.reply = (nowMs + delay, isLost ? nil : reply)
        }
    }

    @Test(arguments: 0..<UInt64(Histories.count(4, atLeast: 2)))
    func atMostOneActsAndEverythingIsHeldAgainWithinTwoLeases(seed: UInt64) {
        var random = Seeded(seed)
        var table = Table()
        var workers = (0..<4).map { worker($0, &random) }
        var born = 4
        var fences = [Int](repeating: 0, count: Partition.count)
        var actors = [[UInt8]](repeating: [], count: Partition.count)
        let endMs = 90_000
        for nowMs in stride(from: 0, to: endMs, by: 20) {
            let calm = nowMs > endMs - 2 * LeaseBookTests.leaseMs
            if !calm {
                if Int.random(in: 0..<350, using: &random) == 0, workers.count > 1 {
                    workers.remove(at: Int.random(in: workers.indices, using: &random))
                }
                if Int.random(in: 0..<350, using: &random) == 0, workers.count < 6 {
                    workers.append(worker(born, &random))
                    born += 1
                }
                if Int.random(in: 0..<200, using: &random) == 0 {
                    let index = Int.random(in: workers.indices, using: &random)
                    workers[index].pausedUntilMs = nowMs + Int.random(in: 100...9_000, using: &random)
                }
            } else {
                for index in workers.indices { workers[index].pausedUntilMs = min(workers[index].pausedUntilMs, nowMs) }
            }
            for index in workers.indices { step(&workers[index], &table, nowMs: nowMs, calm: calm, &random) }
            var held: [Int: [UInt8]] = [:]
            for worker in workers where nowMs >= worker.pausedUntilMs {
                for partition in 0..<Partition.count {
                    guard let token = worker.book.token(of: partition, nowMs: worker.clock(nowMs)) else { continue }
                    #expect(held[partition] == nil, "two hold \(partition) at \(nowMs), seed \(seed)")
                    held[partition] = worker.name
                    // What a refresh would check: nobody acts with a token older than one that acted.
                    #expect(token >= fences[partition], "an old token acts, seed \(seed)")
                    if token == fences[partition] { #expect(actors[partition] == worker.name) }
                    (fences[partition], actors[partition]) = (token, worker.name)
                }
            }
        }
        for partition in 0..<Partition.count {
            let holders = workers.filter { $0.book.token(of: partition, nowMs: $0.clock(endMs - 20)) != nil }
            #expect(holders.count == 1, "\(partition) is held by \(holders.count), seed \(seed)")
        }
    }

    private func settle(_ book: inout LeaseTable, _ table: inout Table, _ name: [UInt8], nowMs: Int) -> [LeaseTable
        .Change]
    {
        var changes: [LeaseTable.Change] = []
        repeat {
            let reply = table.ask(name, book.ask(nowMs: nowMs), leaseMs: LeaseBookTests.leaseMs, nowMs: nowMs)
            changes.append(book.replied(reply))
        } while changes.last?.mustAskAgain == true && changes.count < 10
        return changes
    }

    @Test func aLoneWorkerGetsEverythingInTwoCalls() {
        var table = Table()
        let name = Array("a".utf8)
        var book = LeaseTable(name: name, leaseMs: 3_000)
        let changes = settle(&book, &table, name, nowMs: 0)
        #expect(changes.count == 2 && changes.last?.gained == Array(0..<Partition.count))
        #expect(book.token(of: 64, nowMs: 2_699) != nil && book.token(of: 64, nowMs: 2_700) == nil)
        let result1 = book.expire(nowMs: 2_699)
        #expect(result1 == LeaseTable.Change())
        let result2 = book.expire(nowMs: 2_700)
        #expect(result2.lost.count == Partition.count)
    }

    @Test func aLeaseCountsFromTheCallNotFromItsAnswer() {
        var table = Table()
        let name = Array("a".utf8)
        var book = LeaseTable(name: name, leaseMs: 3_000)
        _ = settle(&book, &table, name, nowMs: 0)
        let wanted = book.ask(nowMs: 1_000)
        // However late the answer comes.
        _ = book.replied(table.ask(name, wanted, leaseMs: 3_000, nowMs: 1_500))
        #expect(book.endMs == 1_000 + 2_700)
    }

    @Test func aRefusedTokenIsGivenBackAndReplaced() throws {
        var table = Table()
        let name = Array("a".utf8)
        var book = LeaseTable(name: name, leaseMs: 3_000)
        _ = settle(&book, &table, name, nowMs: 0)
        let old = try #require(book.token(of: 7, nowMs: 0))
        let result3 = book.refuse(7)
        #expect(result3 == LeaseTable.Change(lost: [7], mustAskAgain: true))
        let result4 = book.refuse(7)
        #expect(book.token(of: 7, nowMs: 0) == nil && result4 == LeaseTable.Change())
        let changes = settle(&book, &table, name, nowMs: 10)
        #expect(changes.flatMap(\.gained) == [7])
        #expect(try #require(book.token(of: 7, nowMs: 10)) > old)
    }

    @Test func aTokenRefusedWhileACallIsOnItsWayIsReplacedToo() throws {
        var table = Table()
        let name = Array("a".utf8)
        var book = LeaseTable(name: name, leaseMs: 3_000)
        _ = settle(&book, &table, name, nowMs: 0)
        let old = try #require(book.token(of: 7, nowMs: 0))
        let reply = table.ask(name, book.ask(nowMs: 10), leaseMs: 3_000, nowMs: 10)
        _ = book.refuse(7)
        let change = book.replied(reply)
        #expect(change.gained.isEmpty && change.mustAskAgain && book.token(of: 7, nowMs: 10) == nil)
        _ = settle(&book, &table, name, nowMs: 20)
        #expect(try #require(book.token(of: 7, nowMs: 20)) > old)
    }

    @Test func sharesAreEvenAndOnlyWhatMustMoveMoves() {
        let names = (0..<5).map { Array("worker-\($0)".utf8) }
        let five = names.map { LeaseTable.share(of: $0, among: names) }
        #expect(five.reduce(0) { $0 + $1.count } == Partition.count)
        #expect(five.reduce(into: Set<Int>()) { $0.formUnion($1) }.count == Partition.count)
        for share in five { #expect((4...26).contains(share.count)) }
        let four = Array(names.dropLast())
        for (index, name) in four.enumerated() {
            #expect(LeaseTable.share(of: name, among: four).isSuperset(of: five[index]))
        }
        #expect(LeaseTable.share(of: Array("stranger".utf8), among: names).isEmpty)
    }

    /// Workers of different versions must agree.
    @Test func hashesNeverChange() {
        #expect(StableHash.of([]) == 0xf52a_15e9_a9b5_e89b)
        #expect(StableHash.of("42".utf8) == 0xa428_ce54_7116_3b02 && Partition.of("42".utf8) == 2)
        #expect(Partition.of("shop-1".utf8) == 59)
        var counts = [Int](repeating: 0, count: Partition.ids)
        for number in 0..<64_000 { counts[Partition.of("shop-\(number)".utf8)] += 1 }
        #expect(counts.allSatisfy { (800...1_200).contains($0) })
    }
}
