import RedisLink
import TestSupport
import Testing

@Suite struct ScriptLanesTests {
    /// A server with a script cache, and several gateways that reach it through pipelines of their own.
    struct Simulation {
        struct Link {
            var lanes: ScriptLanes<Int>
            /// Sent and not executed.
            var wire: [ScriptLanes<Int>.Flight] = []
            /// Executed, with the reply on its way back.
            var replies: [(ScriptLanes<Int>.Flight, RESPValue)] = []
            var executed: [Int] = []
            var finished: [Int] = []
            var submitted: [UInt64: [Int]] = [:]
        }

        let registry: ScriptRegistry
        var links: [Link]
        var cache: Set<Int> = []
        var random: Seeded
        var nextCall = 0
        var laneOf: [Int: UInt64] = [:]
        var sends: [Int: Int] = [:]
        var failures = 0
        var sourcesSent = 0

        init(seed: UInt64, links count: Int) throws {
            let registry = try ScriptRegistryTests.registry("a", "b", "c")
            self.registry = registry
            random = Seeded(seed)
            links = (0..<count).map { _ in Link(lanes: ScriptLanes(registry: registry, heldMax: 1_000)) }
        }

        mutating func submit(_ link: Int, lane: UInt64?) throws {
            let names = ["a", "b", "c"]
            let script = try #require(registry.script(named: names[Int.random(in: 0..<3, using: &random)]))
            let call = ScriptCall(script: script, keys: [], arguments: [])
            let id = nextCall
            nextCall += 1
            if let lane {
                laneOf[id] = lane
                links[link].submitted[lane, default: []].append(id)
            }
            switch links[link].lanes.submit(call, lane: lane, deadlineMs: 1_000_000, context: id) {
            case .send(let flight): send(link, flight)
            case .held: break
            case .full: Issue.record("refused below the limit")
            }
        }

        mutating func send(_ link: Int, _ flight: ScriptLanes<Int>.Flight) {
            sends[flight.context, default: 0] += 1
            if flight.form == .source { sourcesSent += 1 }
            links[link].wire.append(flight)
        }

        mutating func execute(_ link: Int) {
            guard !links[link].wire.isEmpty else { return }
            let flight = links[link].wire.removeFirst()
            let script = index(of: flight)
            if flight.form == .source { cache.insert(script) }
            guard cache.contains(script) else {
                let reply = RESPValue.error(bytes("NOSCRIPT No matching script. Please use EVAL."))
                links[link].replies.append((flight, reply))
                return
            }
            links[link].executed.append(flight.context)
            links[link].replies.append((flight, .integer(flight.context)))
        }

        /// Which script a flight calls, told by the command it becomes.
        func index(of flight: ScriptLanes<Int>.Flight) -> Int {
            let digest = registry.encoded(flight.call, .digest).arguments[1]
            return registry.scripts.firstIndex { $0.digest == digest } ?? 0
        }

        mutating func receive(_ link: Int) {
            guard !links[link].replies.isEmpty else { return }
            let (flight, reply) = links[link].replies.removeFirst()
            var actions: [ScriptLanes<Int>.Action] = []
            links[link].lanes.replied(flight, reply, nowMs: 0, into: &actions)
            for action in actions {
                switch action {
                case .send(let next): send(link, next)
                case .finish(let context, let value):
                    links[link].finished.append(context)
                    if value != .integer(context) { failures += 1 }
                case .expire: failures += 1
                }
            }
        }

        mutating func step(flushOneIn chance: Int, lanes: Int) throws {
            let link = Int.random(in: 0..<links.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3: try submit(link, lane: lanes == 0 ? nil : UInt64.random(in: 0..<UInt64(lanes), using: &random))
            case 3..<6: execute(link)
            case 6..<9: receive(link)
            default:
                if Int.random(in: 0..<chance, using: &random) == 0 { cache = [] }
                // A gateway that is not simulated repairs its own scripts at any moment.
                cache.insert(Int.random(in: 0..<3, using: &random))
            }
        }

        mutating func settle() {
            for _ in 0..<100_000 where links.contains(where: { !$0.wire.isEmpty || !$0.replies.isEmpty }) {
                for link in links.indices {
                    execute(link)
                    receive(link)
                }
            }
        }

        /// Neighbours of one lane that were executed in the wrong order.
        var inversions: Int {
            links.reduce(0) { total, link in
                var latest: [UInt64: Int] = [:]
                var count = total
                for id in link.executed {
                    let lane = laneOf[id] ?? .max
                    if let previous = latest[lane], previous > id { count += 1 }
                    latest[lane] = id
                }
                return count
            }
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func flushesCostNeitherFailureNorOrder(_ seed: UInt64) throws {
        var simulation = try Simulation(seed: seed, links: 3)
        for _ in 0..<Histories.count(1_500, atLeast: 100) { try simulation.step(flushOneIn: 2, lanes: 5) }
        simulation.settle()
        #expect(simulation.failures == 0, "seed \(seed)")
        #expect(simulation.inversions == 0, "seed \(seed)")
        for link in simulation.links {
            #expect(link.executed.sorted() == link.submitted.values.joined().sorted(), "seed \(seed)")
            #expect(link.finished.sorted() == link.executed.sorted(), "seed \(seed)")
            #expect(link.lanes.waiting == 0)
        }
        #expect((simulation.sends.values.max() ?? 0) <= 3, "seed \(seed)")
        #expect(simulation.sends.values.contains { $0 > 1 }, "no flush was felt, seed \(seed)")
    }

    /// Proves that the simulation can see what the lanes prevent.
    @Test func withoutLanesTheSameServerReorders() throws {
        var inversions = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            var simulation = try Simulation(seed: seed, links: 2)
            for _ in 0..<Histories.count(2_000) { try simulation.step(flushOneIn: 2, lanes: 0) }
            simulation.settle()
            #expect(simulation.failures == 0, "seed \(seed)")
            inversions += simulation.inversions
        }
        #expect(inversions > 0)
    }

    static func form(_ action: ScriptLanes<Int>.Action) -> ScriptRegistry.Form? {
        guard case .send(let flight) = action else { return nil }
        return flight.form
    }

    @Test func aFlushUnderLoadSendsTheSourceOnce() throws {
        let registry = try ScriptRegistryTests.registry("a")
        let script = try #require(registry.script(named: "a"))
        var lanes = ScriptLanes<Int>(registry: registry, heldMax: 0)
        var flights: [ScriptLanes<Int>.Flight] = []
        for id in 0..<1_000 {
            let call = ScriptCall(script: script, keys: [], arguments: [])
            guard case .send(let flight) = lanes.submit(call, lane: nil, deadlineMs: 1, context: id) else { continue }
            flights.append(flight)
        }
        #expect(flights.count == 1_000)
        var actions: [ScriptLanes<Int>.Action] = []
        for flight in flights { lanes.replied(flight, .error(bytes("NOSCRIPT x")), nowMs: 0, into: &actions) }
        let forms = actions.map(ScriptLanesTests.form)
        #expect(forms.count == 1_000)
        #expect(forms[0] == .source)
        #expect(forms.dropFirst().allSatisfy { $0 == .digest })
    }

    @Test func aCallIsRepairedAtMostTwice() throws {
        let registry = try ScriptRegistryTests.registry("a")
        let call = ScriptCall(script: try #require(registry.script(named: "a")), keys: [], arguments: [])
        let missing = RESPValue.error(bytes("NOSCRIPT x"))
        var lanes = ScriptLanes<Int>(registry: registry, heldMax: 0)
        guard case .send(let first) = lanes.submit(call, lane: nil, deadlineMs: 1, context: 1),
            case .send(let second) = lanes.submit(call, lane: nil, deadlineMs: 1, context: 2)
        else {
            Issue.record("not sent")
            return
        }
        var actions: [ScriptLanes<Int>.Action] = []
        lanes.replied(first, missing, nowMs: 0, into: &actions)
        lanes.replied(second, missing, nowMs: 0, into: &actions)
        guard case .send(let again) = actions[1] else {
            Issue.record("not sent again")
            return
        }
        #expect(again.form == .digest)
        lanes.replied(again, missing, nowMs: 0, into: &actions)
        guard case .send(let source) = actions[2] else {
            Issue.record("not sent a third time")
            return
        }
        #expect(source.form == .source)
        lanes.replied(source, missing, nowMs: 0, into: &actions)
        guard case .finish(2, missing) = actions[3] else {
            Issue.record("not finished")
            return
        }
    }

    @Test func waitingCallsAreBoundedExpiredAbandonedAndReturned() throws {
        let registry = try ScriptRegistryTests.registry("a")
        let call = ScriptCall(script: try #require(registry.script(named: "a")), keys: [], arguments: [])
        var lanes = ScriptLanes<Int>(registry: registry, heldMax: 3)
        func isHeld(_ submission: ScriptLanes<Int>.Submission) -> Bool {
            if case .held = submission { true } else { false }
        }
        guard case .send(let first) = lanes.submit(call, lane: 7, deadlineMs: 10, context: 0) else {
            Issue.record("not sent")
            return
        }
        for id in 1...3 {
            let held = isHeld(lanes.submit(call, lane: 7, deadlineMs: id == 1 ? 10 : 20, context: id))
            #expect(held)
        }
        guard case .full = lanes.submit(call, lane: 7, deadlineMs: 10, context: 4) else {
            Issue.record("taken beyond the limit")
            return
        }
        var actions: [ScriptLanes<Int>.Action] = []
        lanes.replied(first, .integer(1), nowMs: 10, into: &actions)
        guard actions.count == 3, case .finish(0, .integer(1)) = actions[0], case .expire(1) = actions[1],
            case .send(let next) = actions[2]
        else {
            Issue.record("wrong actions \(actions)")
            return
        }
        #expect(next.context == 2)
        #expect(lanes.waiting == 1)
        actions = []
        lanes.abandoned(next, nowMs: 11, into: &actions)
        guard actions.count == 1, case .send(let last) = actions[0] else {
            Issue.record("wrong actions \(actions)")
            return
        }
        #expect(last.context == 3)
        for id in 5...6 { _ = lanes.submit(call, lane: 7, deadlineMs: 20, context: id) }
        #expect(lanes.disconnected() == [5, 6])
        #expect(lanes.waiting == 0)
        guard case .send = lanes.submit(call, lane: 7, deadlineMs: 20, context: 8) else {
            Issue.record("a lane outlived its connection")
            return
        }
    }
}
