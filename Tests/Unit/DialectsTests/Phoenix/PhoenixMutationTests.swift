import Core
import Dialects
import TestSupport
import Testing

/// Seeded damage to real frames: each is asked, dropped or refused, nothing traps, and every answer is well formed.
@Suite struct PhoenixMutationTests {
    private static func frames(_ version: PhoenixVersion) -> [[UInt8]] {
        let binary = version == .v1 ? [] : ["0301010d0400013637" + "7265616c74696d653a723a3431" + "63686174" + "7b7d"]
        let text = [
            Phoenix.join(version, "realtime:r:41", "{\"broadcast\":{\"ack\":true,\"self\":\"true\"}}"),
            Phoenix.join(version, "realtime:lobby", "{}", ",\"access_token\":\"a.b.c\""),
            Phoenix.frame(version, "realtime:r:41", "broadcast", "{\"event\":\"e\",\"payload\":{\"a\":1}}", ref: "3"),
            Phoenix.frame(version, "realtime:r:41", "access_token", "{\"access_token\":\"x.y.z\"}", ref: "4"),
            Phoenix.frame(version, "realtime:r:41", "presence", "{\"event\":\"track\",\"payload\":{}}", ref: "5"),
            Phoenix.frame(version, "realtime:r:41", "phx_leave", "{}", ref: "6"),
            Phoenix.frame(version, "phoenix", "heartbeat", "{}", ref: "7"),
        ]
        return text.map { Array($0.utf8) } + binary.map { Bytes.of($0) }
    }

    private func damaged(_ frame: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = frame
        let syntax = Array("{}[]\",:0-9\\unull.:r\u{0}".utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = syntax.randomElement(using: &random) ?? 0
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(syntax.randomElement(using: &random) ?? 0, at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    @Test(arguments: PhoenixVersion.allCases, UInt64(0)..<8)
    func damagedFramesAreRefusedOrSound(_ version: PhoenixVersion, _ shard: UInt64) throws {
        var granted = 0
        for step in UInt64(0)..<150 {
            let seed = shard << 32 | step
            var random = Seeded(seed)
            var phoenix = Phoenix(version)
            for _ in 0..<12 {
                let frame = PhoenixMutationTests.frames(version).randomElement(using: &random) ?? []
                let isBinary = frame.first == 3
                phoenix.send(damaged(frame, &random), as: isBinary ? .binary : .text)
                while let request = phoenix.asked.first {
                    guard case .success(let asked) = request else {
                        try phoenix.answer()
                        continue
                    }
                    granted += 1
                    let isLucky = Bool.random(using: &random)
                    try phoenix.answer(
                        isLucky ? try answer(asked.command) : .error(Refusal(.forbidden, "no"), topic: nil))
                }
                for text in phoenix.heard() { #expect(isSound(text, version), "seed \(seed): \(text)") }
            }
        }
        #expect(granted > 200, "the damage is too great to test anything")
    }

    private func answer(_ command: ClientCommand) throws -> ServerMessage {
        switch command {
        case .ping: return .pong
        case .authenticate, .refresh: return .authenticated(userID: Array("u".utf8), expiresAt: 1)
        case .subscribe(let requests):
            let topic = try #require(requests.first).topic
            return .subscribed(topic: topic, position: try Phoenix.position(), recovered: false, state: nil)
        case .unsubscribe(let topics): return .unsubscribed(topic: try #require(topics.first))
        case .publish(let request):
            #expect((try? JSON(parsing: request.data, limits: Phoenix.json))?.root.kind == .object)
            #expect(!request.event.isReserved && request.data.count <= 60)
            return .published(position: try Phoenix.position())
        case .track(let request):
            #expect((try? JSON(parsing: request.meta, limits: Phoenix.json))?.root.kind == .object)
            return .ack(data: Array("{}".utf8))
        case .untrack: return .ack(data: Array("{}".utf8))
        case .command: throw Unreachable()
        }
    }

    /// What every client checks: four members with `ref`, or five elements whose last is an object.
    private func isSound(_ text: String, _ version: PhoenixVersion) -> Bool {
        guard let root = try? JSON(parsing: Array(text.utf8), limits: Phoenix.json).root else { return false }
        switch version {
        case .v1:
            return root.kind == .object && root.members.map(\.name) == ["topic", "event", "payload", "ref"]
                && root["payload"]?.kind == .object && root["topic"]?.kind == .string
        case .v2:
            let elements = Array(root.members)
            return root.kind == .array && elements.count == 5 && elements[4].kind == .object
                && elements[2].kind == .string && elements[3].kind == .string
        }
    }

    private struct Unreachable: Error {}
}
