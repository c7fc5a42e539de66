import Compression
public import Operations
import Reactors
public import WebSocketCodec

/// The compressors and the decompressor of one shard; created when the first client agrees on compression.
///
/// Thread: the shard's.
public final class Deflation {
    /// Range of a payload's bytes within which it is deflated.
    private let bytes: ClosedRange<Int>
    private let statistics: ShardStatistics
    private lazy var wide = Deflater(windowBits: DeflateAgreement.Window.wide.rawValue, bytesMax: bytes.upperBound)
    private lazy var narrow = Deflater(windowBits: DeflateAgreement.Window.narrow.rawValue, bytesMax: bytes.upperBound)
    private lazy var inflater = Inflater()

    /// Payloads of `bytesMin` to `bytesMax` bytes are deflated, and counted in `statistics`.
    public init(bytesMin: Int, bytesMax: Int, statistics: ShardStatistics) {
        bytes = min(bytesMin, bytesMax)...bytesMax
        self.statistics = statistics
    }

    /// Data frames of the gateway, each deflated where that makes it smaller; the same array when none is.
    public func deflated(_ frames: [UInt8], _ window: DeflateAgreement.Window) -> [UInt8] {
        guard frames.count >= bytes.lowerBound else { return frames }
        var position = 0
        var deflated: [UInt8] = []
        var hasDeflated = false
        while let frame = WebSocketEncoder.dataFrame(in: frames, at: position) {
            if let made = deflate(frames[frame.payload], frame.opcode, window) {
                deflated += made
                hasDeflated = true
            } else {
                deflated += frames[position..<frame.payload.upperBound]
            }
            position = frame.payload.upperBound
        }
        return hasDeflated && position == frames.count ? deflated : frames
    }

    private func deflate(
        _ payload: ArraySlice<UInt8>, _ opcode: WebSocketOpcode, _ window: DeflateAgreement.Window
    ) -> [UInt8]? {
        guard bytes.contains(payload.count),
            let deflated = (window == .wide ? wide : narrow).deflate(payload)
        else { return nil }
        statistics.deflated.add(1)
        statistics.deflateBytesIn.add(payload.count)
        statistics.deflateBytesOut.add(deflated.count)
        return WebSocketEncoder.frame(opcode, payload: deflated, isDeflated: true)
    }

    /// The content of a client's deflated message, or the rule that it breaks.
    public func inflated(_ kind: WebSocketEvent.Kind, _ payload: [UInt8], bytesMax: Int) -> WebSocketEvent {
        let event = inflater.inflate(kind, payload, bytesMax: bytesMax)
        if case .message(_, let message) = event {
            statistics.inflated.add(1)
            statistics.inflateBytesIn.add(payload.count)
            statistics.inflateBytesOut.add(message.count)
        }
        return event
    }
}
