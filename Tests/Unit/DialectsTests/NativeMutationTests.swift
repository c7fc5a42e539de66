import Core
import Dialects
import TestSupport
import Testing

/// Messages damaged at random: never a trap, and whatever is understood obeys the dialect's promises.
@Suite struct NativeMutationTests {
    private static let messages = [
        "{\"event\":\"authenticate\",\"data\":{\"token\":\"a.b.c\"},\"ref\":1}",
        "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"42\",\"since\":{\"epoch\":\"k3x9\",\"offset\":12}},\"ref\":\"x\"}",
        "{\"event\":\"subscribe\",\"data\":{\"topics\":[\"shop:42\",{\"topic\":\"dj:42\",\"since\":{\"epoch\":\"a\",\"offset\":1}}]},\"ref\":2}",
        "{\"event\":\"unsubscribe\",\"topic\":\"shop:42\",\"data\":{\"topic\":\"shop:42\"},\"ref\":3}",
        "{\"event\":\"publish\",\"topic\":\"session:7\",\"data\":{\"event\":\"typing\",\"data\":{\"a\":1},\"id\":\"op-1\"},\"ref\":3}",
        "{\"event\":\"vote\",\"data\":{\"shopId\":\"42\",\"trackId\":\"t\\u0031\",\"vote\":\"up\"},\"ref\":4}",
        "{\"event\":\"ping\",\"ref\":5}",
    ].map { Array($0.utf8) }

    private func damaged(_ random: inout Seeded) -> [UInt8] {
        var bytes = NativeMutationTests.messages.randomElement(using: &random) ?? []
        let other = NativeMutationTests.messages.randomElement(using: &random) ?? []
        let syntax = Array("{}[]\",:0-9\\unull.eE\u{0}".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = syntax.randomElement(using: &random) ?? 0
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(syntax.randomElement(using: &random) ?? 0, at: place)
            case 4: bytes.removeSubrange(place...)
            default:
                let from = Int.random(in: 0..<other.count, using: &random)
                bytes.insert(contentsOf: other[from..<min(other.count, from + 12)], at: place)
            }
        }
        return bytes
    }

    @Test(arguments: UInt64(0)..<16)
    func damagedMessagesAreRefusedOrSound(_ shard: UInt64) throws {
        var understood = 0
        for step in UInt64(0)..<1_500 {
            let seed = shard << 32 | step
            var random = Seeded(seed)
            let bytes = damaged(&random)
            switch Native.dialect.decode(bytes) {
            case .failure(let refusal):
                #expect(!refusal.refusal.message.isEmpty, "seed \(seed)")
                let answer = Native.dialect.encode(.error(refusal.refusal, topic: nil), ref: refusal.ref)
                #expect(isObject(answer), "seed \(seed)")
            case .success(let request):
                understood += 1
                #expect(isSound(request.command), "seed \(seed)")
                #expect(isObject(Native.dialect.encode(.pong, ref: request.ref)), "seed \(seed)")
            }
        }
        #expect(understood > 50, "the damage is too great to test anything")
    }

    private func isObject(_ bytes: [UInt8]) -> Bool {
        (try? JSON(parsing: bytes, limits: Native.dialect.json))?.root.kind == .object
    }

    private func isSound(_ command: ClientCommand) -> Bool {
        switch command {
        case .authenticate, .refresh, .ping, .untrack: true
        case .track(let request): isObject(request.meta)
        case .subscribe(let requests):
            (1...3).contains(requests.count) && Set(requests.map(\.topic)).count == requests.count
        case .unsubscribe(let topics): (1...3).contains(topics.count) && Set(topics).count == topics.count
        case .publish(let request):
            isObject(request.data) && request.data.count <= 40 && !request.event.isReserved
        case .command(let name, let arguments): EventName(name) != nil && isObject(arguments.raw)
        }
    }
}
