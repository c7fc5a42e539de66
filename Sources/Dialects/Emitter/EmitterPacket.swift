public import Core

/// A message that a Socket.IO backend publishes in Redis for the servers of its clients.
///
/// That of `@socket.io/redis-emitter` is MessagePack: `[uid, {type, data: [event, argument], nsp}, {rooms, except, flags}]`. Servers with Socket.IO's
/// adapter for Redis publish the same.
public struct EmitterPacket: Equatable, Sendable {
    /// The reason why a message is not taken: the label of a metric.
    public enum Fault: String, Error, CaseIterable, Sendable {
        /// It is no such message.
        case malformed
        /// It, or what it holds, exceeds a limit.
        case tooLarge = "too_large"
        /// It names no room, and so means all clients of a namespace.
        case everyone
        /// It leaves out the clients of some rooms.
        case except
        /// The event has more than one argument.
        case arguments
        /// It wants an answer of the clients, or is one.
        case callback
        /// It is no event, but an order to the servers of clients.
        case order
    }

    /// The pattern of the channels on which such messages arrive, for the default key `socket.io`.
    public static let pattern = Array("socket.io#*".utf8)

    /// The namespace, such as `/queue`.
    public private(set) var namespace: [UInt8] = []
    /// The name of the event; any text.
    public private(set) var event: [UInt8] = []
    /// The argument as JSON; `{}` when there was none.
    public private(set) var data: [UInt8] = []
    /// The rooms; at least one, each once.
    public private(set) var rooms: [[UInt8]] = []

    /// The most rooms of a message.
    public static let roomsMax = 64
    /// The most bytes of a message beside its argument.
    static let frameBytesMax = 32_768
    /// Socket.IO's packet types of an event, without and with bytes.
    private static let eventTypes = [2, 5]

    /// A message that was read.
    init(namespace: [UInt8], event: [UInt8], data: [UInt8], rooms: [[UInt8]]) {
        self.namespace = namespace
        self.event = event
        self.data = data
        self.rooms = rooms
    }

    /// Reads a message; its argument may have `dataBytesMax` bytes as JSON.
    public init(parsing payload: [UInt8], limits: JSON.Limits, dataBytesMax: Int) throws(Fault) {
        guard payload.count <= dataBytesMax + EmitterPacket.frameBytesMax else { throw .tooLarge }
        var reader = MessagePackReader(payload, limits: limits, textBytesMax: dataBytesMax)
        do {
            guard try reader.arrayCount() == 3 else { throw Fault.malformed }
            _ = try reader.string()
            try takePacket(&reader)
            try takeTargets(&reader)
        } catch let fault as MessagePackReader.Fault {
            throw fault == .tooLarge ? Fault.tooLarge : Fault.malformed
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .malformed
        }
        guard reader.isAtEnd, !namespace.isEmpty, !data.isEmpty else { throw .malformed }
        guard !rooms.isEmpty else { throw .everyone }
    }

    private mutating func takePacket(_ reader: inout MessagePackReader) throws {
        var isEvent = false
        for _ in 0..<(try reader.mapCount()) {
            switch String(decoding: try reader.string(), as: UTF8.self) {
            case "type": isEvent = EmitterPacket.eventTypes.contains(try reader.integer())
            case "nsp": namespace = try reader.string()
            case "data": try takeEvent(&reader)
            default: try reader.skip()
            }
        }
        guard isEvent else { throw Fault.malformed }
    }

    private mutating func takeEvent(_ reader: inout MessagePackReader) throws {
        let count = try reader.arrayCount()
        guard count > 0 else { throw Fault.malformed }
        event = try reader.string()
        guard count <= 2 else { throw Fault.arguments }
        data = []
        if count == 2 { try reader.appendJSON(to: &data) } else { data = Array("{}".utf8) }
    }

    private mutating func takeTargets(_ reader: inout MessagePackReader) throws {
        for _ in 0..<(try reader.mapCount()) {
            switch String(decoding: try reader.string(), as: UTF8.self) {
            case "rooms":
                rooms = []
                var known = Set<[UInt8]>()
                for room in try reader.strings() where known.insert(room).inserted { rooms.append(room) }
                guard rooms.count <= EmitterPacket.roomsMax else { throw Fault.tooLarge }
            case "except": guard try reader.arrayCount() == 0 else { throw Fault.except }
            default: try reader.skip()
            }
        }
    }
}
