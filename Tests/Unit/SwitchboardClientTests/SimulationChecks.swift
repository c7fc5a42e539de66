import TestSupport

@testable import SwitchboardClient

/// What happens in a history, and what must hold in each.
extension Simulation {
    private static let topics = ["shop:1", "shop:2", "dj:1"]

    /// The app, a backend, the gateway or the network does something.
    mutating func something() {
        let topic = Simulation.topics.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<25, using: &random) {
        case 0..<5: say(gateway.publish(topic))
        case 5..<7: join(topic)
        case 7: leave()
        case 8..<12: call()
        case 12: tickets.keys.sorted().randomElement(using: &random).map { act(.cancel(ticket: $0)) }
        case 13..<15:
            cut(code: [0, 0, 1_001, 1_011, 1_012, 1_013, 4_408, 4_410, 4_429].randomElement(using: &random) ?? 0)
        case 15: isMute = socket != nil
        case 16:
            isReachable.toggle()
            if !isReachable { cut(code: 0) }
        case 17: say(gateway.reset(topic))
        case 18: say(gateway.lose(topic, Int64.random(in: 1...9, using: &random)))
        case 19:
            let offset = gateway.topics[topic]?.offset ?? 0
            gateway.topics[topic]?.first = offset + 1
        case 20: oddity(topic)
        case 21:
            say([#"{"event":"draining","data":{"reconnectAfterMs":\#(Int.random(in: 0...2_000, using: &random))}}"#])
        case 24: outage()
        case 22:
            failsTokens = happens(500)
            act(.network(usable: happens(800), changed: happens(500)))
        default:
            act(.background)
            pass(happens(500) ? 2_000 : 20_000)
            act(.foreground)
        }
    }

    /// A call is under way when everything ends, for longer than the gateway remembers its id.
    private mutating func outage() {
        call()
        pass(latencyMs)
        isReachable = false
        cut(code: 0)
        pass(Int64.random(in: 200_000...400_000, using: &random))
        isReachable = true
    }

    /// An event comes twice, or is swallowed without a word, or comes as if nobody had asked.
    private mutating func oddity(_ name: String) {
        guard let topic = gateway.topics[name], topic.offset > 0 else { return }
        if happens(500) {
            if gateway.joined.contains(name) { say([gateway.event(name, topic, topic.offset)]) }
        } else {
            _ = gateway.publish(name)
            say(gateway.publish(name))
        }
    }

    private mutating func join(_ topic: String) {
        guard readers.count < 6 else { return }
        numbers += 1
        readers[numbers] = Reader(topic: topic)
        act(.join(topic: topic, listener: numbers, presence: false, since: nil))
    }

    private mutating func leave() {
        guard let number = readers.keys.sorted().randomElement(using: &random), let reader = readers[number] else {
            return
        }
        readers[number] = nil
        act(.leave(topic: reader.topic, listener: number))
    }

    private mutating func call() {
        numbers += 1
        let id = "op-\(numbers)"
        let lane = happens(700) ? "default" : "other"
        let isRepeatable = happens(100)
        calls[id] = Call(lane: lane, isRepeatable: isRepeatable)
        made.append(id)
        tickets[numbers] = id
        let isKept = happens(500)
        let wall = Simulation.beginMs + nowMs
        let entry = OutboxEntry(
            id: id, event: "vote", topic: nil, body: "{}", user: nil, lane: lane, isRepeatable: isRepeatable,
            createdAtMs: wall, expiresAtMs: wall + 120_000, firstSentAtMs: nil)
        let timeout: Int64 = happens(500) ? 60_000 : 600_000
        act(.call(entry, CallTerms(ticket: numbers, timeoutMs: timeout, failsOffline: happens(50), isKept: isKept)))
    }

    mutating func finished(_ ticket: Int, _ result: Result<JSONValue, SwitchboardError>) {
        guard let id = tickets[ticket] else { return fail("an answer for nobody") }
        calls[id]?.finishes += 1
        calls[id]?.result = result
        if calls[id]?.finishes != 1 { fail("\(id) was answered twice") }
        switch result {
        case .success(let answer):
            let isOwn = answer["n"]?.integer == gateway.remembered[id]?.answer
            if !isOwn, calls[id]?.isRepeatable == false { fail("\(id) got another's answer") }
        case .failure(let error):
            let isCertain = [.expired, .offline].contains(error.code)
            if isCertain, gateway.executions[id] != nil { fail("\(id) was said not to have happened") }
        }
    }

    mutating func told(_ number: Int, _ update: TopicUpdate) {
        guard var reader = readers[number] else { return fail("told to nobody: \(update)") }
        switch update {
        case .live(let state, let recovered, let position):
            if recovered {
                if let base = reader.base, base != position {
                    fail("recovered to \(String(describing: position)) from \(String(describing: reader.base))")
                }
                reader.base = position
                break
            }
            if let base = reader.base, base != position, !reader.wasToldGap { fail("a gap was not told") }
            if let state, state["n"]?.integer != position?.offset || state["e"]?.string != position?.epoch {
                fail("the state is of another position")
            }
            reader.base = position
        case .event(let event):
            guard let base = reader.base, let position = event.position else { return fail("an event before live") }
            if position.epoch != base.epoch || position.offset != base.offset + 1 {
                fail("event \(position) after \(base)")
            }
            if event.data["e"]?.string != position.epoch || event.data["n"]?.integer != position.offset {
                fail("an event of another position")
            }
            reader.base = position
            reader.wasToldGap = false
        case .gap(let gap):
            reader.wasToldGap = true
            reader.base = gap.position ?? reader.base
        case .pending, .members: break
        }
        readers[number] = reader
    }

    /// At the end everything is well.
    mutating func check() {
        if !machine.status.isReady, !readers.isEmpty { fail("not ready but \(machine.status.phase)") }
        for (number, reader) in readers {
            let topic = gateway.topics[reader.topic]
            let newest = topic.map { TopicPosition(epoch: $0.name, offset: $0.offset) }
            if reader.base != newest {
                fail("\(number) stands at \(String(describing: reader.base)), not \(newest as Any)")
            }
        }
        for id in made {
            guard let call = calls[id] else { continue }
            if call.finishes != 1 { fail("\(id) was answered \(call.finishes) times") }
            let executions = gateway.executions[id] ?? 0
            if executions > 1, !call.isRepeatable { fail("\(id) was done \(executions) times") }
            if case .success = call.result, executions == 0 { fail("\(id) was never done") }
        }
        for lane in ["default", "other"] {
            let numbers = gateway.order.filter { calls[$0]?.lane == lane }.compactMap { made.firstIndex(of: $0) }
            let first = numbers.reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
            if first != first.sorted() { fail("lane \(lane) lost its order") }
        }
    }
}
