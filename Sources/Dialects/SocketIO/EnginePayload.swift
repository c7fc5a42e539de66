import Core

/// What goes over Engine.IO's polling: packets with the byte 0x1E between them.
public enum EnginePayload {
    /// The byte between two packets; JSON texts never hold it unescaped.
    public static let separator: UInt8 = 0x1e
    /// Packets in one answer to a poll: python-engineio drops the connection when there are more.
    public static let packetsMax = 16
    /// Bytes of one answer to a poll, unless its first packet alone has more.
    public static let bytesMax = 1_048_576

    /// Packets of a frame that ``packet(of:)`` made of one event: its attachments are packets, too.
    public static func packetCount(_ frame: [UInt8]) -> Int {
        hasAttachments(frame) ? 1 + frame.count { $0 == separator } : 1
    }

    /// A frame of one event as messages of a WebSocket.
    public static func units(_ frame: [UInt8]) -> [WireUnit] {
        guard hasAttachments(frame) else { return [WireUnit(.text, frame)] }
        return messages(of: frame, packetsMax: 1 + SocketIOPacket.attachmentsMax) ?? [WireUnit(.text, frame)]
    }

    /// Whether it is a packet of Socket.IO with attachments behind it.
    private static func hasAttachments(_ frame: [UInt8]) -> Bool {
        frame.count > 1 && frame[0] == EnginePacket.Kind.message.rawValue
            && (frame[1] == SocketIOPacket.Kind.binaryEvent.rawValue
                || frame[1] == SocketIOPacket.Kind.binaryAck.rawValue)
    }

    /// Takes the body of a POST apart into messages as a WebSocket would have brought them.
    ///
    /// `nil` when one of them is empty, not UTF-8 or bad base64, or when there are more than `packetsMax`.
    public static func messages(of body: [UInt8], packetsMax: Int) -> [WireUnit]? {
        guard UTF8Text.isValid(body) else { return nil }
        var units: [WireUnit] = []
        for packet in body.split(separator: separator, omittingEmptySubsequences: false) {
            guard units.count < packetsMax, let unit = message(packet) else { return nil }
            units.append(unit)
        }
        return units
    }

    /// One packet of a payload as a WebSocket would have brought it.
    private static func message(_ packet: ArraySlice<UInt8>) -> WireUnit? {
        guard let first = packet.first else { return nil }
        guard first == EnginePacket.Kind.bytes.rawValue else { return WireUnit(.text, Array(packet)) }
        return Base64.decode(packet.dropFirst(), .standard).map { WireUnit(.binary, $0) }
    }

    /// The packet of a payload that says what a message of a WebSocket says.
    public static func packet(of unit: WireUnit) -> [UInt8] {
        unit.kind == .text
            ? unit.bytes : [EnginePacket.Kind.bytes.rawValue] + Base64.encode(unit.bytes, .standard)
    }
}
