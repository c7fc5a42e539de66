import Glibc
import Testing

@testable import Reactors

@Suite struct MailboxTests {
    /// How often a wake was signalled since it was last read; 0 when it was not.
    static func signals(_ wake: Wake) -> UInt64 {
        var count: UInt64 = 0
        return unsafe read(wake.raw, &count, 8) == 8 ? count : 0
    }

    @Test func messagesComeInOrder() throws {
        let mailbox = Mailbox<Int>(capacity: 10, wake: try Wake())
        for number in 0..<5 { #expect(mailbox.send(number)) }
        #expect(mailbox.send(contentsOf: [5, 6, 7]))
        var taken: [Int] = []
        mailbox.drain(into: &taken)
        #expect(taken == [0, 1, 2, 3, 4, 5, 6, 7])
        taken.removeAll()
        mailbox.drain(into: &taken)
        #expect(taken.isEmpty)
    }

    @Test func aFullMailboxRefusesAndTakesAllOrNone() throws {
        let mailbox = Mailbox<Int>(capacity: 3, wake: try Wake())
        #expect(mailbox.send(1))
        #expect(!mailbox.send(contentsOf: [2, 3, 4]))
        #expect(mailbox.send(contentsOf: [2, 3]))
        #expect(!mailbox.send(4))
        #expect(mailbox.send(contentsOf: []))
        var taken: [Int] = []
        mailbox.drain(into: &taken)
        #expect(taken == [1, 2, 3])
        #expect(mailbox.send(4))
    }

    @Test func theWakeIsSignalledOnceUntilTheMailboxIsDrained() throws {
        let wake = try Wake()
        let mailbox = Mailbox<Int>(capacity: 100, wake: wake)
        #expect(MailboxTests.signals(wake) == 0)
        for number in 0..<50 { _ = mailbox.send(number) }
        #expect(MailboxTests.signals(wake) == 1)
        _ = mailbox.send(50)
        #expect(MailboxTests.signals(wake) == 0)
        var taken: [Int] = []
        mailbox.drain(into: &taken)
        #expect(taken.count == 51)
        _ = mailbox.send(51)
        #expect(MailboxTests.signals(wake) == 1)
    }

    /// A shard with more topics than its mailbox has places could never be told that they were lost and confirmed.
    @Test func aBatchBeyondTheCapacityIsTakenWhenNothingWaits() throws {
        let mailbox = Mailbox<Int>(capacity: 3, wake: try Wake())
        #expect(mailbox.send(0))
        #expect(!mailbox.send(contentsOf: [1, 2, 3, 4, 5]))
        var taken: [Int] = []
        mailbox.drain(into: &taken)
        #expect(mailbox.send(contentsOf: [1, 2, 3, 4, 5]))
        #expect(!mailbox.send(6))
        taken.removeAll()
        mailbox.drain(into: &taken)
        #expect(taken == [1, 2, 3, 4, 5])
    }

    @Test func aRefusedMessageDoesNotWake() throws {
        let wake = try Wake()
        let mailbox = Mailbox<Int>(capacity: 0, wake: wake)
        #expect(!mailbox.send(1))
        #expect(MailboxTests.signals(wake) == 0)
    }

    /// Four threads send 100 000 messages each to a running reactor; each thread's arrive complete and in its order.
    @Test func producersKeepTheirOrder() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let mailbox = Mailbox<[Int]>(capacity: 4_096, wake: loop.wake)
        let (producers, perProducer) = (4, 100_000)
        var next = Array(repeating: 0, count: producers)
        var received: [[Int]] = []
        var drains = 0
        reactor.onMailbox = {
            mailbox.drain(into: &received)
            drains += 1
            for message in received {
                if next[message[0]] != message[1] {
                    Issue.record("producer \(message[0]) sent \(next[message[0]]), \(message[1]) came")
                    reactor.stop()
                }
                next[message[0]] = message[1] + 1
            }
            received.removeAll(keepingCapacity: true)
            if next.allSatisfy({ $0 == perProducer }) { reactor.stop() }
        }
        let threads = try (0..<producers).map { producer in
            try Thread.start("producer-\(producer)") {
                for number in 0..<perProducer {
                    while !mailbox.send([producer, number]) { _ = sched_yield() }
                }
            }
        }
        try loop.run()
        // A run that failed leaves producers before a full mailbox; they go on once it is emptied.
        while !next.allSatisfy({ $0 == perProducer }) {
            received.removeAll()
            mailbox.drain(into: &received)
            for message in received { next[message[0]] = message[1] + 1 }
        }
        for thread in threads { thread.join() }
        #expect(drains <= producers * perProducer)
    }
}
