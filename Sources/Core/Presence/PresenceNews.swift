/// A message of a topic's channel about presence: `H<epoch> <version>\n{"left":[id...],"here":[[id,member]...]}`.
///
/// Written by `here_change.lua` alone; untrusted like all data from Redis.
public struct PresenceUpdate: Equatable, Sendable {
    /// The set's version after the change; each one is one more than the last.
    public let version: Position
    /// The entries that left.
    public let left: [PresenceID]
    /// The entries that joined, or have a new meta.
    public let here: [PresenceMember]

    /// Makes a message of checked parts.
    public init(version: Position, left: [PresenceID], here: [PresenceMember]) {
        self.version = version
        self.left = left
        self.here = here
    }

    /// Whether the first byte of a channel message is that of this form.
    public static func isMeant(_ bytes: [UInt8]) -> Bool { bytes.first == UInt8(ascii: "H") }

    /// The most bytes before the JSON text.
    private static let headBytesMax = 1 + Position.epochBytesMax + 1 + 19 + 1

    /// Reads a message; `nil` when it breaks the form or a bound.
    public static func parse(_ bytes: [UInt8], bytesMax: Int, json: JSON.Limits) -> PresenceUpdate? {
        guard isMeant(bytes), bytes.count <= bytesMax,
            let newline = bytes.prefix(headBytesMax).firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let head = bytes[1..<newline].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard head.count == 2, let number = ASCII.decimal(head[1]), number >= 1,
            let version = Position(epoch: head[0], offset: number),
            let root = try? JSON(parsing: Array(bytes[(newline + 1)...]), limits: json).root,
            let leaving = root["left"], leaving.kind == .array, let coming = root["here"], coming.kind == .array
        else { return nil }
        var left: [PresenceID] = []
        for value in leaving.members {
            guard let id = value.stringBytes.flatMap({ PresenceID($0) }) else { return nil }
            left.append(id)
        }
        var here: [PresenceMember] = []
        for pair in coming.members {
            var parts = pair.members
            guard pair.kind == .array, let name = parts.next()?.stringBytes, let id = PresenceID(name),
                let value = parts.next(), let member = PresenceMember.read(id, value)
            else { return nil }
            here.append(member)
        }
        return PresenceUpdate(version: version, left: left, here: here)
    }
}
