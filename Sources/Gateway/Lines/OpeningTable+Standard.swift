import Core
import Dialects

extension OpeningTable {
    /// Every dialect that the gateway speaks.
    static func standard(_ limits: Limits) -> OpeningTable {
        let native = NativeDialect(
            json: limits.json, subscribeBatchMax: limits.subscribeBatchMax, publishBytesMax: limits.publishBytesMax)
        return OpeningTable([
            Entry(paths: NativeDialect.paths, framing: .webSocket, dialect: { _ in .success(native) })
        ])
    }
}
