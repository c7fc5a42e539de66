import Core
import Dialects

private let limits = JSON.Limits(depthMax: 16, elementsMax: 1_000)

/// Takes arbitrary bytes as a message of an emitter; what is read must be JSON within its bound.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let packet = try? EmitterPacket(parsing: bytes, limits: limits, dataBytesMax: 4_096) else { return 0 }
    precondition(packet.data.count <= 4_096 && !packet.rooms.isEmpty && !packet.namespace.isEmpty)
    do {
        _ = try JSON(parsing: packet.data, limits: JSON.Limits(depthMax: 17, elementsMax: 1_000))
    } catch {
        precondition(error == .duplicateName)
    }
    return 0
}
