import Core
import Testing

@testable import Dialects

@Suite struct EmitterPacketTests {
    private static let limits = JSON.Limits(depthMax: 8, elementsMax: 200)

    /// Text between brackets as bytes: `[93]` is one byte, everything else stands for itself.
    private static func bytes(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        for (number, piece) in text.split(separator: "[", omittingEmptySubsequences: false).enumerated() {
            guard number > 0, let end = piece.firstIndex(of: "]") else {
                result += Array(piece.utf8)
                continue
            }
            result += piece[..<end].split(separator: " ").compactMap { UInt8($0, radix: 16) }
            result += Array(piece[piece.index(after: end)...].utf8)
        }
        return result
    }

    private static func packet(
        _ text: String, dataBytesMax: Int = 1_000
    ) throws(EmitterPacket.Fault) -> EmitterPacket {
        try EmitterPacket(parsing: bytes(text), limits: limits, dataBytesMax: dataBytesMax)
    }

    /// A message to one room with this argument.
    private static func message(_ argument: String) -> String {
        "[93 a7]emitter[83 a4]type[02 a4]data[92 a1]e\(argument)[a3]nsp[a1]/[83 a5]rooms[91 a3]a:1[a5]flags[80 a6]except[90]"
    }

    private static func data(_ argument: String) throws(EmitterPacket.Fault) -> String {
        String(decoding: try packet(message(argument)).data, as: UTF8.self)
    }

    @Test func readsWhatTheLibraryWrites() throws {
        let packet = try EmitterPacketTests.packet(
            "[93 a7]emitter[83 a4]type[02 a4]data[92 ac]queue:update[81 a6]length[cd 01 2c a3]nsp[a6]/queue"
                + "[83 a5]rooms[92 a7]shop:42[a7]shop:42[a5]flags[81 a8]volatile[c3 a6]except[90]")
        #expect(packet.namespace == Array("/queue".utf8))
        #expect(packet.event == Array("queue:update".utf8))
        #expect(packet.data == Array("{\"length\":300}".utf8))
        #expect(packet.rooms == [Array("shop:42".utf8)])
    }

    @Test func olderVersionsLeaveOutExceptAndSendEventsWithBytesAsAnotherType() throws {
        let packet = try EmitterPacketTests.packet(
            "[93 a7]emitter[83 a4]type[05 a4]data[91 a1]e[a3]nsp[a1]/[82 a5]rooms[91 a3]a:1[a5]flags[80]")
        #expect(packet.data == Array("{}".utf8))
    }

    @Test func valuesBecomeTheirJSON() throws {
        let cases = [
            ("[c0]", "null"), ("[c2]", "false"), ("[7f]", "127"), ("[e0]", "-32"), ("[cc ff]", "255"),
            ("[cf ff ff ff ff ff ff ff ff]", "18446744073709551615"), ("[d0 80]", "-128"), ("[d1 80 00]", "-32768"),
            ("[d2 80 00 00 00]", "-2147483648"), ("[d3 80 00 00 00 00 00 00 00]", "-9223372036854775808"),
            ("[ca 3f c0 00 00]", "1.5"), ("[cb 3f f8 00 00 00 00 00 00]", "1.5"),
            ("[cb 7f f0 00 00 00 00 00 00]", "null"), ("[d9 02]ab", "\"ab\""), ("[da 00 02]a\"", "\"a\\\"\""),
            ("[db 00 00 00 01]a", "\"a\""), ("[c4 02 00 ff]", "{\"$bytes\":\"AP8=\"}"),
            ("[c7 02 00 00 ff]", "{\"$bytes\":\"AP8=\"}"), ("[d4 00 00]", "null"),
            ("[93 01 d4 00 00 02]", "[1,null,2]"),
            ("[82 a1]a[d4 00 00 a1]b[01]", "{\"b\":1}"), ("[dc 00 01 01]", "[1]"), ("[de 00 01 a1]a[01]", "{\"a\":1}"),
            ("[d7 00 00 00 00 df b7 62 9c 00]", "\"2000-06-13T00:00:00.000Z\""),
            ("[d6 ff 39 45 79 80]", "\"2000-06-13T00:00:00.000Z\""),
            ("[d7 ff 1d 53 53 00 39 45 79 80]", "\"2000-06-13T00:00:00.123Z\""),
            ("[c7 0c ff 07 54 d4 c0 00 00 00 00 39 45 79 80]", "\"2000-06-13T00:00:00.123Z\""),
            ("[d7 00 ff ff ff ff ff ff ff ff]", "null"), ("[c7 0c ff 00 00 00 00 7f ff ff ff ff ff ff ff]", "null"),
        ]
        for (argument, json) in cases { #expect(try EmitterPacketTests.data(argument) == json, "\(argument)") }
    }

    @Test func whatIsNoSuchMessageIsRefusedByItsReason() {
        let wanted: [(String, EmitterPacket.Fault)] = [
            ("", .malformed), ("[93]", .malformed), ("[90]", .malformed),
            (EmitterPacketTests.message("[c1]"), .malformed),
            (EmitterPacketTests.message("[a1 ff]"), .malformed), (EmitterPacketTests.message("[d4 05 00]"), .malformed),
            (EmitterPacketTests.message("[dd ff ff ff ff]"), .malformed),
            (EmitterPacketTests.message("[df ff ff ff ff]"), .malformed),
            (EmitterPacketTests.message("[c6 ff ff ff ff]"), .malformed),
            (EmitterPacketTests.message("[81 01 01]"), .malformed),
            (EmitterPacketTests.message("[01]") + "x", .malformed),
            (EmitterPacketTests.message("[91 91 91 91 91 91 91 91 91 91]"), .tooLarge),
            (EmitterPacketTests.message("[dc 00 ff" + String(repeating: " 01", count: 255) + "]"), .tooLarge),
            ("[93 a1]u[83 a4]type[02 a4]data[93 a1]e[01 02 a3]nsp[a1]/[81 a5]rooms[91 a3]a:1", .arguments),
            ("[93 a1]u[83 a4]type[02 a4]data[91 a1]e[a3]nsp[a1]/[81 a5]rooms[90]", .everyone),
            ("[93 a1]u[83 a4]type[02 a4]data[91 a1]e[a3]nsp[a1]/[82 a5]rooms[91 a3]a:1[a6]except[91 a1]x", .except),
            ("[93 a1]u[83 a4]type[00 a4]data[91 a1]e[a3]nsp[a1]/[81 a5]rooms[91 a3]a:1", .malformed),
            ("[93 a1]u[82 a4]type[02 a3]nsp[a1]/[81 a5]rooms[91 a3]a:1", .malformed),
        ]
        for (text, fault) in wanted {
            #expect(throws: fault, "\(text)") { try EmitterPacketTests.packet(text) }
        }
        #expect(throws: EmitterPacket.Fault.tooLarge) {
            try EmitterPacketTests.packet(EmitterPacketTests.message("[a4]text"), dataBytesMax: 5)
        }
    }

    @Test func randomBytesNeverTrapAndWhatIsReadIsJSON() {
        var generator = Seeded(state: 30)
        let good = EmitterPacketTests.bytes(
            EmitterPacketTests.message(
                "[84 a1]a[93 01 cb 3f f8 00 00 00 00 00 00 c0 a1]b[81 a1]c[c4 01 00 a1]d[d4 00 00 a1]f[c3]"))
        for _ in 0..<20_000 {
            var message = good
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                message[Int.random(in: message.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { message.removeLast(Int.random(in: 0..<20, using: &generator)) }
            guard
                let packet = try? EmitterPacket(
                    parsing: message, limits: EmitterPacketTests.limits, dataBytesMax: 1_000)
            else { continue }
            #expect(packet.data.count <= 1_000 && !packet.rooms.isEmpty)
            do {
                _ = try JSON(parsing: packet.data, limits: JSON.Limits(depthMax: 9, elementsMax: 200))
            } catch {
                // The reader of publishes refuses an object that names a member twice.
                #expect(error == .duplicateName, "\(packet.data)")
            }
        }
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }
}
