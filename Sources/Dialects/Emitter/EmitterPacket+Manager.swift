public import Core

/// The messages of python-socketio's managers for Redis (`RedisManager`, `AsyncRedisManager`), version 5.14 and later.
///
/// They are JSON: `{method, event, data, binary, namespace, room, skip_sid, callback, host_id}`. The data of an emit are
/// the list of its arguments. With bytes, they are that list with placeholders, and behind it each of the bytes in
/// Base64. Some versions write a single argument without the list.
extension EmitterPacket {
    /// The channel on which such messages arrive, unless the backend names another one.
    public static let managerChannel = Array("socketio".utf8)

    /// Members of a message beside its argument, rooms and attachments among them.
    private static let frameElementsMax = 512
    /// Levels of a message around its argument.
    private static let frameDepth = 3

    /// Reads a message; its argument may have `dataBytesMax` bytes as JSON.
    public init(manager payload: [UInt8], limits: JSON.Limits, dataBytesMax: Int) throws(Fault) {
        guard payload.count <= dataBytesMax + EmitterPacket.frameBytesMax else { throw .tooLarge }
        let outer = JSON.Limits(
            depthMax: limits.depthMax + EmitterPacket.frameDepth,
            elementsMax: limits.elementsMax + EmitterPacket.frameElementsMax)
        let root: JSON.Value
        do {
            root = try JSON(parsing: payload, limits: outer).root
        } catch {
            throw error == .tooDeep || error == .tooManyElements ? .tooLarge : .malformed
        }
        guard root.kind == .object, let method = root["method"]?.stringBytes else { throw .malformed }
        // A client's answer goes back to the server that asked for it.
        guard method != Array("callback".utf8) else { throw .callback }
        guard method == Array("emit".utf8) else { throw .order }
        guard let event = root["event"]?.stringBytes else { throw .malformed }
        guard EmitterPacket.isNothing(root["callback"]) else { throw .callback }
        guard EmitterPacket.isNothing(root["skip_sid"]) else { throw .except }
        let data = try EmitterPacket.argument(of: root, limits: outer)
        guard data.count <= dataBytesMax else { throw .tooLarge }
        self.init(
            namespace: try EmitterPacket.namespace(of: root), event: event, data: data,
            rooms: try EmitterPacket.rooms(of: root))
    }

    private static func isNothing(_ value: JSON.Value?) -> Bool {
        guard let value, value.kind != .null else { return true }
        return value.kind == .array && value.members.first { _ in true } == nil
    }

    private static func namespace(of root: JSON.Value) throws(Fault) -> [UInt8] {
        guard let value = root["namespace"], value.kind != .null else { return [UInt8(ascii: "/")] }
        guard let name = value.stringBytes, !name.isEmpty else { throw .malformed }
        return name
    }

    private static func rooms(of root: JSON.Value) throws(Fault) -> [[UInt8]] {
        guard let value = root["room"], value.kind != .null else { throw .everyone }
        // Python knows rooms that are no texts; their JSON names no topic, and is told.
        guard value.kind == .array else { return [value.stringBytes ?? Array(value.raw)] }
        var rooms: [[UInt8]] = []
        var known = Set<[UInt8]>()
        for member in value.members {
            let room = member.stringBytes ?? Array(member.raw)
            if known.insert(room).inserted { rooms.append(room) }
            guard rooms.count <= roomsMax else { throw .tooLarge }
        }
        guard !rooms.isEmpty else { throw .everyone }
        return rooms
    }

    /// The argument as JSON; `{}` for none.
    private static func argument(of root: JSON.Value, limits: JSON.Limits) throws(Fault) -> [UInt8] {
        guard let data = root["data"], data.kind != .null else { return Array("{}".utf8) }
        guard root["binary"]?.kind == .yes else { return try argument(in: data) }
        var parts = Array(data.members)
        guard data.kind == .array, !parts.isEmpty else { throw .malformed }
        let arguments = parts.removeFirst()
        let attachments = parts.compactMap { part in part.stringBytes.flatMap { Base64.decode($0, .standard) } }
        guard attachments.count == parts.count, let text = SocketIOBytes.filled(arguments, with: attachments),
            let filled = try? JSON(parsing: text, limits: limits).root
        else { throw .malformed }
        return try argument(in: filled)
    }

    private static func argument(in data: JSON.Value) throws(Fault) -> [UInt8] {
        guard data.kind == .array else { return Array(data.raw) }
        var members = data.members
        let only = members.next()
        guard members.next() == nil else { throw .arguments }
        guard let only, only.kind != .null else { return Array("{}".utf8) }
        return Array(only.raw)
    }
}
