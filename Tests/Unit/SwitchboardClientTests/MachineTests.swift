import TestSupport
import Testing

@testable import SwitchboardClient

/// Single rules of the machine that no history shows.
struct MachineTests {
    private static func ready() -> ClientMachine {
        var machine = ClientMachine(times: ClientTimes(), seed: 1, credentials: .fixed("t"))
        _ = machine.take(.start, nowMs: 0, wallMs: 0)
        _ = authenticate(&machine, as: "ada", nowMs: 0)
        return machine
    }

    /// Opens the socket, and lets the gateway take the token; returns what the client does then.
    private static func authenticate(_ machine: inout ClientMachine, as user: String, nowMs: Int64) -> [ClientOutput] {
        _ = machine.take(.opened(generation: machine.generation), nowMs: nowMs, wallMs: nowMs)
        let answer = #"{"event":"authenticated","data":{"userId":"\#(user)"},"ref":"\#(machine.authRef ?? "")"}"#
        let outputs = machine.take(.text(generation: machine.generation, answer), nowMs: nowMs, wallMs: nowMs)
        #expect(machine.status.isReady)
        return outputs
    }

    @Test("an idle client wakes for its ping and for nothing else")
    func idle() {
        var machine = MachineTests.ready()
        var alarm = Alarm()
        var now: Int64 = 0
        var rings = 0
        _ = alarm.want(machine.wakeAtMs)
        while let ring = alarm.atMs, ring < 3_600_000 {
            now = ring
            rings += 1
            alarm.rang(ring)
            let outputs = machine.take(.tick, nowMs: now, wallMs: now)
            _ = alarm.want(machine.wakeAtMs)
            for case .send(_, let text) in outputs {
                let ref = JSONReader.read(text)?["ref"]?.text ?? ""
                now += 40
                _ = machine.take(.text(generation: 1, #"{"event":"pong","ref":\#(ref)}"#), nowMs: now, wallMs: now)
                _ = alarm.want(machine.wakeAtMs)
            }
        }
        #expect(rings == 3_600 / 25 - 1)
        // A message sets no timer, and a stopped client has none.
        for number in 1...1_000 {
            let text = #"{"event":"e","topic":"a:b","data":{}}"#
            _ = machine.take(.text(generation: 1, text), nowMs: now + Int64(number), wallMs: now)
            if alarm.want(machine.wakeAtMs) != .keep { rings += 1 }
        }
        #expect(rings == 3_600 / 25 - 1)
        _ = machine.take(.stop, nowMs: now + 1_000, wallMs: now)
        #expect(alarm.want(machine.wakeAtMs) == .stop && alarm.want(nil) == .keep)
    }

    @Test("times that an app chooses without measure are no trap", arguments: [Int64.min, -1, 0, 1, 7_000, .max])
    func absurdTimes(_ value: Int64) {
        var times = ClientTimes()
        for time in [\ClientTimes.pingMs, \.backoffMinMs, \.backoffMaxMs, \.redialMs, \.joinsPerSecond, \.callsAtOnce] {
            times[keyPath: time] = value
        }
        var machine = ClientMachine(times: times, seed: 1)
        _ = machine.take(.start, nowMs: 0, wallMs: 0)
        _ = machine.take(.join(topic: "a:b", listener: 1, presence: false, since: nil), nowMs: 0, wallMs: 0)
        for (step, event) in ["unavailable", "rate_limited", "internal"].enumerated() {
            let now = machine.wakeAtMs ?? Int64(step)
            _ = machine.take(.opened(generation: machine.generation), nowMs: now, wallMs: now)
            let text = #"{"event":"error","topic":"a:b","ref":"!s\#(step + 1)","data":{"code":"\#(event)"}}"#
            _ = machine.take(.text(generation: machine.generation, text), nowMs: now, wallMs: now)
            _ = machine.take(.tick, nowMs: machine.wakeAtMs ?? now, wallMs: now)
            _ = machine.take(.closed(generation: machine.generation, code: 0, httpStatus: nil), nowMs: now, wallMs: now)
        }
    }

    /// The client woke each millisecond while the answer to its `unsubscribe` was out.
    @Test("a topic that is left twice before the answer wakes nobody")
    func leftTwice() {
        var machine = MachineTests.ready()
        func join(_ listener: Int) -> ClientInput {
            .join(topic: "a:b", listener: listener, presence: false, since: nil)
        }
        _ = machine.take(join(1), nowMs: 1, wallMs: 1)
        let data = #"{"topic":"a:b","epoch":"k","offset":1,"recovered":false}"#
        let answer = #"{"event":"subscribed","topic":"a:b","ref":"!s\#(machine.asks)","data":\#(data)}"#
        _ = machine.take(.text(generation: 1, answer), nowMs: 1, wallMs: 1)
        _ = machine.take(.leave(topic: "a:b", listener: 1), nowMs: 2, wallMs: 2)
        _ = machine.take(.tick, nowMs: 2_002, wallMs: 2_002)
        #expect(machine.topics["a:b"]?.stage == .leaving(ref: "!u\(machine.asks)"))
        _ = machine.take(join(2), nowMs: 2_003, wallMs: 2_003)
        _ = machine.take(.leave(topic: "a:b", listener: 2), nowMs: 2_003, wallMs: 2_003)
        _ = machine.take(.tick, nowMs: 6_000, wallMs: 6_000)
        #expect((machine.wakeAtMs ?? 0) > 20_000)
    }

    @Test("clients that are cut together come back at an even rate")
    func jitter() {
        var perSecond = [Int](repeating: 0, count: 26)
        for seed in UInt64(1)...1_000 {
            var machine = ClientMachine(times: ClientTimes(), seed: seed, credentials: .fixed("t"))
            _ = machine.take(.start, nowMs: 0, wallMs: 0)
            machine.attempt = 7
            _ = machine.take(.closed(generation: 1, code: 0, httpStatus: nil), nowMs: 0, wallMs: 0)
            perSecond[min(Int((machine.wakeAtMs ?? 0) / 1_000), 25)] += 1
        }
        #expect(perSecond.allSatisfy { $0 < 3 * 1_000 / 26 })
    }

    @Test("hostile numbers and shapes in the gateway's words are no trap")
    func hostile() {
        let numbers = ["-1", "0", "9223372036854775807", "-9223372036854775808", "1e400", "\"x\"", "null", "[]", "{}"]
        for number in numbers {
            var machine = MachineTests.ready()
            _ = machine.take(.join(topic: "a:b", listener: 1, presence: true, since: nil), nowMs: 1, wallMs: 1)
            let data =
                #"{"topic":"a:b","epoch":"k","offset":\#(number),"reconnectAfterMs":\#(number),"#
                + #""retryAfterMs":\#(number),"code":"rate_limited","members":\#(number),"leaves":[\#(number)]}"#
            for event in ["subscribed", "gap", "presence", "draining", "error", "x", "unsubscribed", "ack"] {
                let text = #"{"event":"\#(event)","topic":"a:b","offset":\#(number),"ref":"!s2","data":\#(data)}"#
                _ = machine.take(.text(generation: 1, text), nowMs: 2, wallMs: 2)
                if let wake = machine.wakeAtMs { _ = machine.take(.tick, nowMs: wake, wallMs: wake) }
            }
        }
        #expect(JSONReader.read(String(repeating: "[", count: 100_000)) == nil)
        for text in ["", "{", "[1,]", "\"\\u12", "\"\\ud800\"x", "{\"a\" 1}", "+1", "tru", "1 2"] {
            #expect(JSONReader.read(text) == nil, "\(text)")
        }
        #expect(JSONReader.read(#""\ud83d\ude00\u0041\ud800""#) == .string("\u{1f600}A\u{fffd}"))
    }

    @Test("JSON that is written reads as what it was", arguments: 1...50)
    func json(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        func value(_ depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &random) {
            case 0: .null
            case 1: .bool(Bool.random(using: &random))
            case 2: .integer(Int64.random(in: .min ... .max, using: &random))
            case 3: .number(Double.random(in: -1e9...1e9, using: &random) + 0.5)
            case 4: .string(["", "\"\\\n\u{1}", "\u{1f600}", "plain"].randomElement(using: &random) ?? "")
            case 5: .array((0..<3).map { _ in value(depth + 1) })
            default: .object(["a": value(depth + 1), "\"": value(depth + 1)])
            }
        }
        let made = value(0)
        #expect(JSONReader.read(made.text) == made)
    }

    @Test("another user's calls and positions stay with that user")
    func otherUser() {
        func token(_ user: String) -> String { "e." + Self.base64(#"{"sub":"\#(user)"}"#) + ".s" }
        var machine = ClientMachine(times: ClientTimes(), seed: 1, credentials: .fixed(token("ada")))
        func entry(_ id: String) -> OutboxEntry {
            OutboxEntry(
                id: id, event: "vote", topic: nil, body: "{}", user: nil, lane: "default", isRepeatable: false,
                createdAtMs: 0, expiresAtMs: 1_000_000, firstSentAtMs: nil)
        }
        _ = machine.take(.start, nowMs: 0, wallMs: 0)
        _ = machine.take(
            .call(entry("kept"), CallTerms(ticket: 1, timeoutMs: 60_000, isKept: true)), nowMs: 0, wallMs: 0)
        _ = machine.take(.call(entry("other"), CallTerms(ticket: 2, timeoutMs: 60_000)), nowMs: 0, wallMs: 0)
        let change = machine.take(.setCredentials(.fixed(token("bob"))), nowMs: 1, wallMs: 1)
        #expect(change.contains { if case .finish(2, .failure) = $0 { true } else { false } })
        let sent = MachineTests.authenticate(&machine, as: "bob", nowMs: 2)
        #expect(!sent.contains { if case .send(_, let text) = $0 { text.contains("vote") } else { false } })
        #expect(machine.calls.map(\.entry.user) == ["ada"])
    }

    private static func base64(_ text: String) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var out = ""
        var bits = 0
        var held: UInt32 = 0
        for byte in text.utf8 {
            held = held << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                out.append(letters[Int(held >> UInt32(bits)) & 63])
            }
            held &= (1 << UInt32(bits)) - 1
        }
        if bits > 0 { out.append(letters[Int(held << UInt32(6 - bits)) & 63]) }
        return out
    }
}
