/// One message to a client as a dialect writes it, before its transport frames it.
///
/// On a WebSocket it becomes one data message, on an event stream one record, in Engine.IO one packet.
public struct WireUnit: Equatable, Sendable {
    /// The frame type, on transports that distinguish text from bytes.
    public let kind: MessageKind
    /// The payload.
    public let bytes: [UInt8]

    /// Makes a unit.
    public init(_ kind: MessageKind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}
