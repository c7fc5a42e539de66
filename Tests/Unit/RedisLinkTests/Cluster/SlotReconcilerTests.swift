import Core
import RedisLink
import TestSupport
import Testing

@Suite struct SlotReconcilerTests {
    private func check(_ isTrue: Bool, _ location: SourceLocation = #_sourceLocation) {
        #expect(isTrue, sourceLocation: location)
    }

    /// A master with some of four slots, which come and go, and the bytes on their way.
    private struct Simulation: ReconcilerSimulation {
        enum Reply {
            case subscribed([UInt8])
            case unsubscribed([UInt8])
            case refused
            case pong(Int)
        }

        static let batchMax = 3
        static let unconfirmedMax = 8

        var reconciler = SlotReconciler(batchMax: batchMax, unconfirmedMax: unconfirmedMax)
        var random: Seeded
        var desired: Set<[UInt8]> = []
        var server: Set<[UInt8]> = []
        var owned: Set<Int> = [0, 1, 2, 3]
        var calls: [SlotReconciler.Call] = []
        var replies: [Reply] = []
        var gone: Set<[UInt8]> = []
        var isConnected = false
        var faults: [String] = []

        init(seed: UInt64) { random = Seeded(seed) }

        static func slot(_ channel: [UInt8]) -> Int { Int(channel[0]) % 4 }

        mutating func pump() {
            while let call = reconciler.next() {
                calls.append(call)
                if call.channels.isEmpty || call.channels.count > Simulation.batchMax { faults.append("batch") }
                if call.channels.contains(where: { Simulation.slot($0) != call.slot }) { faults.append("two slots") }
            }
            if calls.reduce(0, { $0 + $1.channels.count }) > Simulation.unconfirmedMax { faults.append("unconfirmed") }
        }

        mutating func execute() {
            guard !calls.isEmpty else { return }
            let call = calls.removeFirst()
            if !owned.contains(call.slot) {
                replies.append(.refused)
            } else if call.subscribes {
                for channel in call.channels {
                    server.insert(channel)
                    replies.append(.subscribed(channel))
                }
            } else {
                for channel in call.channels {
                    server.remove(channel)
                    replies.append(.unsubscribed(channel))
                }
            }
            replies.append(.pong(call.number))
        }

        mutating func receive() {
            guard !replies.isEmpty else { return }
            switch replies.removeFirst() {
            case .subscribed(let channel):
                if reconciler.confirmed(channel) {
                    gone.remove(channel)
                    if !desired.contains(channel) { faults.append("live but not wanted") }
                }
            case .unsubscribed(let channel):
                if reconciler.unsubscribed(channel) {
                    gone.insert(channel)
                    if !desired.contains(channel) { faults.append("lost but not wanted") }
                }
            case .refused: reconciler.refused(RedisFailure(.moved))
            case .pong(let number):
                switch reconciler.answered(number) {
                case .done: break
                case .refused(_, let channels, let failure):
                    if failure.kind != .moved { faults.append("refused because of \(failure.kind)") }
                    gone.formUnion(channels)
                case .unexpected: faults.append("unexpected pong")
                }
            }
        }

        /// A slot leaves: every channel of it is taken away unasked.
        mutating func lose(_ slot: Int) {
            owned.remove(slot)
            for channel in server.filter({ Simulation.slot($0) == slot }).sorted(by: { $0[0] < $1[0] }) {
                server.remove(channel)
                replies.append(.unsubscribed(channel))
            }
        }

        mutating func connect() {
            isConnected = true
            gone = []
            reconciler.connected()
        }

        mutating func disconnect() {
            isConnected = false
            (server, calls, replies) = ([], [], [])
            reconciler.disconnected()
        }

        mutating func step() {
            let channel = [UInt8.random(in: 0..<24, using: &random)]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<20:
                desired.insert(channel)
                if reconciler.want(channel, slot: Simulation.slot(channel)), !desired.contains(channel) {
                    faults.append("live without a want")
                }
            case 20..<38:
                desired.remove(channel)
                reconciler.unwant(channel)
            case 38..<56: pump()
            case 56..<74: execute()
            case 74..<90: receive()
            case 90..<93: lose(Int.random(in: 0..<4, using: &random))
            case 93..<96: owned.insert(Int.random(in: 0..<4, using: &random))
            case 96..<98: reconciler.retry(Array(gone))
            default: isConnected ? disconnect() : connect()
            }
        }

        mutating func calm() {
            if !isConnected { connect() }
            owned = [0, 1, 2, 3]
            reconciler.retry(Array(gone))
        }

        var isQuiet: Bool { calls.isEmpty && replies.isEmpty }
        var verdict: (isSettled: Bool, count: Int) { (reconciler.isSettled, reconciler.count) }
    }

    @Test(arguments: 1...UInt64(Histories.count(100)))
    func afterSettlingTheMasterHasWhatIsWanted(_ seed: UInt64) {
        Simulation.play(seed)
    }

    @Test func aRefusalThatNamesNoChannelBelongsToItsCallEvenWhenThePushCrossedIt() {
        var reconciler = SlotReconciler(batchMax: 8, unconfirmedMax: 64)
        reconciler.connected()
        _ = reconciler.want([1], slot: 1)
        _ = reconciler.want([2], slot: 2)
        check(reconciler.next()?.channels == [[1]])
        check(reconciler.next()?.channels == [[2]])
        check(reconciler.confirmed([1]))
        check(reconciler.answered(1) == .done)
        check(reconciler.confirmed([2]))
        check(reconciler.answered(2) == .done)
        reconciler.unwant([1])
        let leaving = reconciler.next()
        #expect(leaving?.number == 3)
        #expect(leaving?.subscribes == false)
        #expect(leaving?.channels == [[1]])
        _ = reconciler.want([3], slot: 2)
        check(reconciler.next()?.number == 4)
        // The slot of the first leaves just then: the push, then MOVED for the SUNSUBSCRIBE, then the answers.
        check(!reconciler.unsubscribed([1]))
        reconciler.refused(RedisFailure(.moved))
        check(reconciler.answered(3) == .done)
        check(reconciler.confirmed([3]))
        check(reconciler.answered(4) == .done)
        #expect(reconciler.isSettled)
        #expect(reconciler.count == 2)
    }

    @Test func aServerThatConfirmsNothingOrAnswersOutOfTurnIsNoticed() {
        var reconciler = SlotReconciler(batchMax: 8, unconfirmedMax: 64)
        reconciler.connected()
        check(reconciler.answered(1) == .unexpected)
        _ = reconciler.want([1], slot: 1)
        _ = reconciler.next()
        check(reconciler.answered(2) == .unexpected)
        guard case .refused(1, [[1]], let failure) = reconciler.answered(1) else {
            Issue.record("a subscription that was never confirmed passed for one")
            return
        }
        #expect(failure.kind == .protocolViolation)
    }
}
