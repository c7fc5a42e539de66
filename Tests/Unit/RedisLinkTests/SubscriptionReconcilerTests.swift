import RedisLink
import TestSupport
import Testing

@Suite struct SubscriptionReconcilerTests {
    typealias Reconciler = SubscriptionReconciler<Int>

    /// A server, the commands on their way to it and its replies on their way back.
    struct Simulation: ReconcilerSimulation {
        enum Reply {
            case subscribed(Int)
            case unsubscribed(Int)
        }

        static let batchMax = 4
        static let unconfirmedMax = 10

        var reconciler = Reconciler(batchMax: batchMax, unconfirmedMax: unconfirmedMax)
        var random: Seeded
        var desired: Set<Int> = []
        var server: Set<Int> = []
        var commands: [Reconciler.Action] = []
        var replies: [Reply] = []
        var isConnected = false
        var faults: [String] = []
        var lastLive: UInt64 = 0

        init(seed: UInt64) { random = Seeded(seed) }

        mutating func pump() {
            while let action = reconciler.next() {
                commands.append(action)
                let count =
                    switch action {
                    case .subscribe(let channels), .unsubscribe(let channels): channels.count
                    }
                if count == 0 || count > Simulation.batchMax { faults.append("batch of \(count)") }
            }
            let waiting =
                replies.count
                + commands.reduce(0) { sum, action in
                    switch action {
                    case .subscribe(let channels), .unsubscribe(let channels): sum + channels.count
                    }
                }
            if waiting > Simulation.unconfirmedMax { faults.append("\(waiting) unconfirmed") }
        }

        mutating func execute() {
            guard !commands.isEmpty else { return }
            switch commands.removeFirst() {
            case .subscribe(let channels):
                for channel in channels {
                    if !server.insert(channel).inserted { faults.append("subscribed twice") }
                    replies.append(.subscribed(channel))
                }
            case .unsubscribe(let channels):
                for channel in channels {
                    if server.remove(channel) == nil { faults.append("unsubscribed what was not there") }
                    replies.append(.unsubscribed(channel))
                }
            }
        }

        mutating func receive() {
            guard !replies.isEmpty else { return }
            switch replies.removeFirst() {
            case .subscribed(let channel):
                switch reconciler.confirmed(channel) {
                case .live(let since):
                    if since <= lastLive { faults.append("live numbers do not grow") }
                    lastLive = since
                    if !desired.contains(channel) { faults.append("live but not wanted") }
                    if reconciler.liveSince(channel) != since { faults.append("live and not live") }
                case .unwanted: if desired.contains(channel) { faults.append("wanted but not live") }
                default: faults.append("unexpected confirmation")
                }
            case .unsubscribed(let channel):
                switch reconciler.unsubscribed(channel) {
                case .gone: if desired.contains(channel) { faults.append("wanted but gone") }
                case .resubscribing: if !desired.contains(channel) { faults.append("resubscribing the unwanted") }
                default: faults.append("unexpected end")
                }
            }
        }

        mutating func connect() {
            isConnected = true
            reconciler.connected()
        }

        mutating func disconnect() {
            isConnected = false
            server = []
            commands = []
            replies = []
            reconciler.disconnected()
        }

        mutating func step() {
            let channel = Int.random(in: 0..<30, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<20:
                desired.insert(channel)
                if case .live(let since) = reconciler.want(channel) {
                    if reconciler.liveSince(channel) != since || !server.contains(channel) { faults.append("not live") }
                }
            case 20..<40:
                desired.remove(channel)
                reconciler.unwant(channel)
            case 40..<60: pump()
            case 60..<78: execute()
            case 78..<96: receive()
            default: isConnected ? disconnect() : connect()
            }
        }

        mutating func calm() {
            if !isConnected { connect() }
        }

        var isQuiet: Bool { commands.isEmpty && replies.isEmpty }
        var verdict: (isSettled: Bool, count: Int) { (reconciler.isSettled, reconciler.count) }
    }

    @Test(arguments: 1...UInt64(Histories.count(300)))
    func afterSettlingTheServerHasWhatIsWanted(_ seed: UInt64) {
        Simulation.play(seed) { simulation, place in
            for channel in 0..<30 {
                let isLive = simulation.reconciler.liveSince(channel) != nil
                #expect(isLive == simulation.desired.contains(channel), "\(place)")
            }
        }
    }

    @Test func wantingAgainWhileUnsubscribingSubscribesAfterTheEnd() {
        var reconciler = Reconciler(batchMax: 10, unconfirmedMax: 10)
        reconciler.connected()
        #expect(reconciler.want(1) == .pending)
        #expect(reconciler.next() == .subscribe([1]))
        #expect(reconciler.confirmed(1) == .live(1))
        reconciler.unwant(1)
        #expect(reconciler.liveSince(1) == 1)
        #expect(reconciler.next() == .unsubscribe([1]))
        #expect(reconciler.liveSince(1) == nil)
        #expect(reconciler.want(1) == .pending)
        #expect(reconciler.next() == nil)
        #expect(reconciler.unsubscribed(1) == .resubscribing)
        #expect(reconciler.next() == .subscribe([1]))
        #expect(reconciler.confirmed(1) == .live(2))
        #expect(reconciler.want(1) == .live(2))
    }

    @Test func ceasingToWantWhileSubscribingUnsubscribesAfterTheConfirmation() {
        var reconciler = Reconciler(batchMax: 10, unconfirmedMax: 10)
        reconciler.connected()
        _ = reconciler.want(1)
        _ = reconciler.next()
        reconciler.unwant(1)
        #expect(reconciler.next() == nil)
        #expect(reconciler.confirmed(1) == .unwanted)
        #expect(reconciler.next() == .unsubscribe([1]))
        #expect(reconciler.unsubscribed(1) == .gone)
        #expect(reconciler.count == 0)
        #expect(reconciler.isSettled)
    }

    @Test func aChannelNoLongerWantedBeforeSendingIsNeverSent() {
        var reconciler = Reconciler(batchMax: 10, unconfirmedMax: 10)
        reconciler.connected()
        _ = reconciler.want(1)
        reconciler.unwant(1)
        #expect(reconciler.next() == nil)
        #expect(reconciler.count == 0)
    }

    @Test func everythingIsResubscribedInBatchesAfterAReconnect() {
        var reconciler = Reconciler(batchMax: 512, unconfirmedMax: 2_048)
        for channel in 0..<10_000 { #expect(reconciler.want(channel) == .pending) }
        #expect(reconciler.next() == nil)
        for _ in 0..<3 {
            reconciler.connected()
            var live: Set<Int> = []
            var batches = 0
            var rounds = 0
            while !reconciler.isSettled && rounds < 100 {
                rounds += 1
                var sent: [Int] = []
                while case .subscribe(let channels)? = reconciler.next() {
                    #expect(channels.count <= 512)
                    batches += 1
                    sent += channels
                }
                #expect(sent.count <= 2_048)
                for channel in sent {
                    guard case .live = reconciler.confirmed(channel) else { continue }
                    live.insert(channel)
                }
            }
            #expect(live.count == 10_000)
            #expect(batches <= 21)
            reconciler.disconnected()
            #expect(reconciler.liveSince(1) == nil)
        }
    }

    @Test func aConfirmationNobodyAskedForIsToldApart() {
        var reconciler = Reconciler(batchMax: 10, unconfirmedMax: 10)
        #expect(reconciler.confirmed(1) == .unexpected)
        reconciler.connected()
        #expect(reconciler.confirmed(1) == .unexpected)
        #expect(reconciler.unsubscribed(1) == .unexpected)
        _ = reconciler.want(1)
        #expect(reconciler.confirmed(1) == .unexpected)
        _ = reconciler.next()
        #expect(reconciler.unsubscribed(1) == .unexpected)
        #expect(reconciler.confirmed(1) == .live(1))
        #expect(reconciler.confirmed(1) == .unexpected)
    }

    @Test func aSubscriptionTheServerEndsIsMadeAgain() {
        var reconciler = Reconciler(batchMax: 10, unconfirmedMax: 10)
        reconciler.connected()
        _ = reconciler.want(1)
        _ = reconciler.next()
        _ = reconciler.confirmed(1)
        #expect(reconciler.unsubscribed(1) == .resubscribing)
        #expect(reconciler.next() == .subscribe([1]))
        #expect(reconciler.confirmed(1) == .live(2))
    }

    @Test func neitherKindOfCommandStarves() {
        var reconciler = Reconciler(batchMax: 2, unconfirmedMax: 2)
        reconciler.connected()
        for channel in 0..<4 { _ = reconciler.want(channel) }
        for _ in 0..<2 {
            guard case .subscribe(let channels)? = reconciler.next() else { continue }
            for channel in channels { _ = reconciler.confirmed(channel) }
        }
        for channel in 0..<4 { reconciler.unwant(channel) }
        for channel in 10..<20 { _ = reconciler.want(channel) }
        guard case .unsubscribe? = reconciler.next() else {
            Issue.record("the unsubscribe waits behind every subscribe")
            return
        }
    }
}
