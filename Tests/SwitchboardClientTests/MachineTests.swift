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
        var now: Int64 = 0
        var wakes = 0
        while let wake = machine.wakeAtMs, wake < 3_600_000 {
            now = wake
            wakes += 1
            for case .send(_, let text) in machine.take(.tick, nowMs: now, wallMs: now) {
                let ref = JSONReader.read(text)?["ref"]?.text ?? ""
                _ = machine.take(.text(generation: 1, #"{"event":"pong","ref":\#(ref)}"#), nowMs: now, wallMs: now)
            }
        }
        #expect(wakes == 3_600 / 25 - 1)
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
