import Core
import Dialects

/// Reads arbitrary bytes as the body of a poll and as what nodes say to each other; whatever is understood is written and read again as it was.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    for kind in [MessageKind.text, .binary] {
        guard let packet = EnginePacket(message: bytes, as: kind) else { continue }
        precondition(packet.payload.count <= bytes.count)
    }
    if let relay = RelayMessage(parsing: bytes) { precondition(relay.bytes == bytes) }
    guard let units = EnginePayload.messages(of: bytes, packetsMax: 64) else { return 0 }
    precondition((1...64).contains(units.count))
    for unit in units where unit.kind == .text {
        precondition(!unit.bytes.isEmpty && !unit.bytes.contains(EnginePayload.separator))
    }
    let written = units.map(EnginePayload.packet(of:)).joined(separator: [EnginePayload.separator])
    precondition(Array(written) == bytes)
    return 0
}
