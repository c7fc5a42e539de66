import Core
import Dialects

private let limits = JSON.Limits(depthMax: 16, elementsMax: 1_000)

/// Takes arbitrary bytes as a message of an emitter or of a manager; what is read must be JSON within its bound.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    if let packet = try? EmitterPacket(parsing: bytes, limits: limits, dataBytesMax: 4_096) { check(packet) }
    if let packet = try? EmitterPacket(manager: bytes, limits: limits, dataBytesMax: 4_096) { check(packet) }
    return 0
}

private func check(_ packet: EmitterPacket) {
    precondition(packet.data.count <= 4_096 && !packet.rooms.isEmpty && !packet.namespace.isEmpty)
    do {
        _ = try JSON(parsing: packet.data, limits: JSON.Limits(depthMax: 17, elementsMax: 1_000))
    } catch {
        precondition(error == .duplicateName)
    }
}
