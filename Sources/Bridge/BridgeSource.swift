public import Configuration
public import Core
import Dialects

/// The backends of one kind: the channels on which they publish, the form of their messages, and the key of the lease.
///
/// Each kind has a lease and marks of its own, so that gateways of different kinds know nothing of each other.
public struct BridgeSource: Sendable {
    typealias Read = @Sendable ([UInt8], JSON.Limits, _ dataBytesMax: Int) throws(EmitterPacket.Fault) -> EmitterPacket

    /// The patterns of the channels on which messages arrive.
    public let patterns: [[UInt8]]
    /// The channels on which messages arrive.
    public let channels: [[UInt8]]
    /// The key of the lease, also the channel of the marks.
    let key: [UInt8]
    /// Reads a message.
    let read: Read

    /// The source of that kind; `nil` for none.
    public init?(_ kind: BridgeKind, _ keys: Keys) {
        switch kind {
        case .off: return nil
        case .socketIO:
            (patterns, channels, key) = ([EmitterPacket.pattern], [], keys.bridge)
            read = { (payload, limits, dataBytesMax) throws(EmitterPacket.Fault) in
                try EmitterPacket(parsing: payload, limits: limits, dataBytesMax: dataBytesMax)
            }
        case .pythonSocketIO:
            (patterns, channels, key) = ([], [EmitterPacket.managerChannel], keys.pythonBridge)
            read = { (payload, limits, dataBytesMax) throws(EmitterPacket.Fault) in
                try EmitterPacket(manager: payload, limits: limits, dataBytesMax: dataBytesMax)
            }
        }
    }
}
