import Core

/// The body of Engine.IO polling: packets with the byte 0x1E between them.
public enum EnginePayload {
    /// The byte between two packets; JSON texts never contain it unescaped.
    public static let separator: UInt8 = 0x1e
    /// Packets in one answer to a poll: python-engineio drops the connection when there are more.
    public static let packetsMax = 16
    /// The most bytes in one answer to a poll, unless its first packet alone has more.
    public static let bytesMax = 1_048_576

    /// The packets in a frame that ``packet(of:)`` made of one event: its attachments are packets, too.
    public static func packetCount(_ frame: [UInt8]) -> Int {
        hasAttachments(frame) ? 1 + frame.count { $0 == separator } : 1
    }

    /// A frame of one event as WebSocket messages.
    public static func units(_ frame: [UInt8]) -> [WireUnit] {
        guard hasAttachments(frame) else { return [WireUnit(.text, frame)] }
        return messages(of: frame, packetsMax: 1 + SocketIOPacket.attachmentsMax) ?? [WireUnit(.text, frame)]
    }

    /// Whether the frame is a Socket.IO packet with attachments after it.
    private static func hasAttachments(_ frame: [UInt8]) -> Bool {
        frame.count > 1 && frame[0] == EnginePacket.Kind.message.rawValue
            && (frame[1] == SocketIOPacket.Kind.binaryEvent.rawValue
                || frame[1] == SocketIOPacket.Kind.binaryAck.rawValue)
    }

    /// Splits the body of a POST into the messages that a WebSocket would have received.
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

    /// One packet of a payload as a WebSocket message; `nil` when it is empty or bad base64.
    private static func message(_ packet: ArraySlice<UInt8>) -> WireUnit? {
        guard let first = packet.first else { return nil }
        guard first == EnginePacket.Kind.bytes.rawValue else { return WireUnit(.text, Array(packet)) }
        return Base64.decode(packet.dropFirst(), .standard).map { WireUnit(.binary, $0) }
    }

    /// The packet of a payload for a WebSocket message.
    public static func packet(of unit: WireUnit) -> [UInt8] {
        unit.kind == .text
            ? unit.bytes : [EnginePacket.Kind.bytes.rawValue] + Base64.encode(unit.bytes, .standard)
    }
}
