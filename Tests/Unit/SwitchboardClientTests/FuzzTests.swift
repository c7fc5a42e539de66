import Foundation
import TestSupport
import Testing

@testable import SwitchboardClient

/// The public API with odd values, in an order that a seed decides: the caller gets an error or an answer, and the client
/// works on.
struct FuzzTests {
    /// A gateway that answers in the same breath, and minds what a real one would end a connection for.
    private final class Gateway: SwitchboardTransport, SwitchboardSocket {
        let events = Locked<(@Sendable (SocketEvent) -> Void)?>(nil)

        func open(_: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket {
            self.events.with { $0 = events }
            events(.opened)
            return self
        }

        func say(_ text: String) { events.with { $0 }?(.text(text)) }

        func send(_ text: String) {
            #expect(text.utf8.count <= 65_536)
            guard let frame = JSONReader.read(text), let ref = frame["ref"]?.text, let data = frame["data"] else {
                Issue.record("no message: \(text.prefix(200))")
                return
            }
            guard frame["event"] == "subscribe" else { return say(#"{"event":"ack","data":{"n":2},"ref":\#(ref)}"#) }
            for one in data["topics"]?.array ?? [data] {
                let topic = one["topic"]?.text ?? ""
                say(
                    #"{"event":"subscribed","topic":\#(topic),"ref":\#(ref),"#
                        + #""data":{"topic":\#(topic),"epoch":"k","offset":1,"recovered":false}}"#)
            }
        }

        func close(code: Int) { events.with { $0 }?(.closed(code: code, httpStatus: nil, message: "")) }
    }

    /// A value that cannot be encoded, or only in part.
    private struct Odd: Encodable, Sendable {
        let kind: Int

        func encode(to encoder: any Encoder) throws {
            switch kind {
            case 0: throw CocoaError(.coderInvalidValue)
            case 1: break
            case 2:
                var container = encoder.singleValueContainer()
                try container.encode(Double.infinity)
            case 3:
                var container = encoder.unkeyedContainer()
                try container.encode(Double.nan)
            case 4:
                var container = encoder.singleValueContainer()
                try container.encode(String(repeating: "x", count: 70_000))
            default:
                var container = encoder.singleValueContainer()
                try container.encode(["\u{0}": "\u{fffd}\"\\\u{2028}"])
            }
        }
    }

    private static let texts = [
        "", "x", "a:b", "shop:1", "\u{0}", "\"", "\\", "\u{2028}", "e\u{301}", "\u{1f600}", "not a name", "a:", ":b",
        "A:b",
        "__proto__", String(repeating: "x", count: 70_000), "a:" + String(repeating: "b", count: 201), "\r\n",
    ]

    @Test("odd values end with their caller", arguments: 1...3)
    func odd(_ seed: Int) async throws {
        var random = Seeded(UInt64(seed))
        let gateway = Gateway()
        var times = ClientTimes()
        // Calls have a rate, and this is not its test.
        times.callsAtOnce = 100_000
        times.callsPerSecond = 100_000
        times.joinsAtOnce = 100_000
        var options = SwitchboardClient.Options()
        options.times = times
        let client = SwitchboardClient(url: URL(filePath: "/"), options: options, transport: gateway)
        for _ in 0..<200 {
            let text = FuzzTests.texts.randomElement(using: &random) ?? ""
            let other = FuzzTests.texts.randomElement(using: &random) ?? ""
            let odd = Odd(kind: Int.random(in: 0...5, using: &random))
            let number = [Double.nan, .infinity, -.infinity, -1, 0, 1e300].randomElement(using: &random) ?? 0
            var how = SwitchboardClient.CallOptions()
            how.lane = other
            if Bool.random(using: &random) { how.timeout = max(number, 1) }
            if Bool.random(using: &random) { how.whenOffline = .keep(expiresAfter: number) }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: _ = try? await client.call(text, odd, returning: JSONValue.self)
            case 1: try? await client.call("vote", odd, id: other)
            case 2: _ = try? await client.publish(text, odd, to: other, options: how)
            case 3: try? client.track(text, meta: odd)
            case 4: client.resynchronise(text)
            case 5: client.removeCall(text)
            case 6: _ = client.events(of: text, since: TopicPosition(epoch: other, offset: .max)).makeAsyncIterator()
            default: try? await client.call(text, JSONValue.number(number), options: how)
            }
        }
        var updates = client.events(of: "shop:9").makeAsyncIterator()
        guard case .live = try await updates.next() else { throw CancellationError() }
        gateway.say(#"{"event":"e","topic":"shop:9","data":{},"offset":2}"#)
        guard case .event = try await updates.next() else { throw CancellationError() }
        #expect(try await client.call("vote", [1], returning: JSONValue.self) == ["n": 2])
        for topic in ["no topic", "a:" + String(repeating: "b", count: 70_000)] {
            var none = client.events(of: topic).makeAsyncIterator()
            await #expect(throws: SwitchboardError.self) { try await none.next() }
        }
        #expect(throws: SwitchboardError.self) { try client.track("a:b", meta: Odd(kind: 4)) }
        client.stop()
        #expect(client.currentStatus.phase == .stopped)
        #expect(try await updates.next() == nil)
    }
}
