public import Dialects
public import WebSocketCodec

/// The form in which a transport sends the units of a dialect.
public enum Framing: Hashable, Sendable {
    /// One data frame for each unit (RFC 6455 section 5.6).
    case webSocket
    /// The same, deflated where that makes them smaller (RFC 7692); see ``Deflation``.
    case webSocketDeflated(DeflateAgreement.Window)
    /// The units as they are: records of an event stream, which end with an empty line.
    case eventStream
    /// Packets of Engine.IO's polling, one for each unit, with a separator between them.
    case packets

    /// The bytes of units that follow one another.
    public func frame(_ units: [WireUnit]) -> [UInt8] {
        switch self {
        case .webSocket, .webSocketDeflated:
            if units.count == 1 { return Framing.webSocketFrame(units[0]) }
            return units.flatMap { Framing.webSocketFrame($0) }
        case .eventStream:
            return units.count == 1 ? units[0].bytes : units.flatMap(\.bytes)
        case .packets:
            if units.count == 1 { return EnginePayload.packet(of: units[0]) }
            return Array(units.map(EnginePayload.packet(of:)).joined(separator: [EnginePayload.separator]))
        }
    }

    private static func webSocketFrame(_ unit: WireUnit) -> [UInt8] {
        WebSocketEncoder.frame(unit.kind == .text ? .text : .binary, payload: unit.bytes)
    }
}
