import TestSupport

@testable import SwitchboardClient

/// A gateway as far as one client can tell: topics with logs, commands that remember their ids, and moods.
struct SimulatedGateway {
    struct Topic {
        var epoch = 1
        var offset: Int64 = 0
        /// The oldest offset that the log has.
        var first: Int64 = 1
        var name: String { "k\(epoch)" }
    }

    /// What one connection is told, in order.
    typealias Said = [String]

    var topics: [String: Topic] = [:]
    /// The present connection's.
    var joined: Set<String> = []
    var isAuthenticated = false
    /// Answers by id, with the time of the execution.
    var remembered: [String: (answer: Int64, atMs: Int64)] = [:]
    var executions: [String: Int] = [:]
    var order: [String] = []
    var count: Int64 = 0
    /// In thousandths: how often it refuses what it could do.
    var moody = 0
    var acceptsToken = true
    var violation: String?

    /// Whether this happens to happen.
    func happens(_ thousandths: Int, _ random: inout Seeded) -> Bool {
        Int.random(in: 0..<1_000, using: &random) < thousandths
    }

    func event(_ name: String, _ topic: Topic, _ offset: Int64) -> String {
        #"{"event":"e","topic":"\#(name)","data":{"e":"\#(topic.name)","n":\#(offset)},"offset":\#(offset)}"#
    }

    /// Somebody publishes.
    mutating func publish(_ name: String) -> Said {
        topics[name, default: Topic()].offset += 1
        guard let topic = topics[name], joined.contains(name) else { return [] }
        return [event(name, topic, topic.offset)]
    }

    /// The gateway lost events, and says so.
    mutating func lose(_ name: String, _ events: Int64) -> Said {
        topics[name, default: Topic()].offset += events
        let offset = topics[name]?.offset ?? 0
        topics[name]?.first = offset + 1
        return gap(name, "missed")
    }

    mutating func reset(_ name: String) -> Said {
        let next = (topics[name]?.epoch ?? 1) + 1
        topics[name] = Topic(epoch: next)
        return gap(name, "reset")
    }

    private func gap(_ name: String, _ reason: String) -> Said {
        guard let topic = topics[name], joined.contains(name) else { return [] }
        let data = #"{"epoch":"\#(topic.name)","offset":\#(topic.offset),"reason":"\#(reason)"}"#
        return [#"{"event":"gap","topic":"\#(name)","data":\#(data)}"#]
    }

    /// A message of the client.
    ///
    /// The answer may end with a close, as its code.
    mutating func take(_ text: String, nowMs: Int64, _ random: inout Seeded) -> (said: Said, close: Int?) {
        guard let frame = JSONReader.read(text), let event = frame["event"]?.string, let ref = frame["ref"]?.text else {
            violation = "no message: \(text)"
            return ([], nil)
        }
        if !isAuthenticated, event != "authenticate" { violation = "before the token: \(text)" }
        switch event {
        case "authenticate":
            guard acceptsToken else {
                let data = #"{"code":"unauthorized","message":"no"}"#
                return ([#"{"event":"error","data":\#(data),"ref":\#(ref)}"#], 4_401)
            }
            isAuthenticated = true
            return ([#"{"event":"authenticated","data":{"userId":"ada"},"ref":\#(ref)}"#], nil)
        case "ping": return ([#"{"event":"pong","ref":\#(ref)}"#], nil)
        case "subscribe":
            let data = frame["data"] ?? .null
            return ((data["topics"]?.array ?? [data]).flatMap { subscribe($0, ref, &random) }, nil)
        case "unsubscribe":
            let name = frame["data"]?["topic"]?.string ?? ""
            joined.remove(name)
            return ([#"{"event":"unsubscribed","topic":"\#(name)","data":{},"ref":\#(ref)}"#], nil)
        default: return (execute(frame["ref"]?.string ?? "", nowMs, &random), nil)
        }
    }

    private mutating func subscribe(_ wanted: JSONValue, _ ref: String, _ random: inout Seeded) -> Said {
        let name = wanted["topic"]?.string ?? ""
        if happens(moody, &random) {
            let code = ["unavailable", "rate_limited", "conflict"].randomElement(using: &random) ?? ""
            let data = #"{"code":"\#(code)","message":"","topic":"\#(name)","retryAfterMs":50}"#
            return [#"{"event":"error","topic":"\#(name)","data":\#(data),"ref":\#(ref)}"#]
        }
        let topic = topics[name, default: Topic()]
        topics[name] = topic
        joined.insert(name)
        let since = wanted["since"].flatMap { TopicPosition($0) }
        let recovers = since.map { $0.epoch == topic.name && $0.offset + 1 >= topic.first && $0.offset <= topic.offset }
        var data = #""topic":"\#(name)","epoch":"\#(topic.name)","offset":\#(topic.offset)"#
        data += #","recovered":\#(recovers == true),"state":{"e":"\#(topic.name)","n":\#(topic.offset)}"#
        var said = [#"{"event":"subscribed","topic":"\#(name)","data":{\#(data)},"ref":\#(ref)}"#]
        if recovers == true, let since, since.offset < topic.offset {
            said += (since.offset + 1...topic.offset).map { event(name, topic, $0) }
        }
        return said
    }

    private mutating func execute(_ id: String, _ nowMs: Int64, _ random: inout Seeded) -> Said {
        let failsBefore = happens(moody, &random)
        let failsAfter = happens(moody, &random)
        let code = happens(500, &random) ? "unavailable" : "rate_limited"
        let refusal = [
            #"{"event":"error","data":{"code":"\#(code)","message":"","retryAfterMs":95},"ref":"\#(id)"}"#
        ]
        if failsBefore { return refusal }
        if let known = remembered[id], nowMs - known.atMs < 300_000 { return [ack(id, known.answer)] }
        count += 1
        executions[id, default: 0] += 1
        remembered[id] = (count, nowMs)
        order.append(id)
        // The answer alone may be lost.
        if failsAfter, code == "unavailable" { return refusal }
        return [ack(id, count)] + (happens(100, &random) ? [ack(id, count + 1_000)] : [])
    }

    private func ack(_ id: String, _ answer: Int64) -> String {
        #"{"event":"ack","data":{"n":\#(answer)},"ref":"\#(id)"}"#
    }
}
