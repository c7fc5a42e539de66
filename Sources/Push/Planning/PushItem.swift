public import Core

/// One item that waits to be pushed to a user, as `call_pushes.lua` names it.
public struct PushItem: Sendable, Equatable {
    /// The subject of the item.
    public enum Source: Sendable, Equatable {
        /// The notification of that id.
        case notification
        /// The newest message of the conversation of that id.
        case conversation
    }

    /// Its name among waiting items: `n:ID` or `c:ID`.
    public let name: [UInt8]
    /// The subject of the item.
    public let source: Source
    /// The time in its call, milliseconds; an answer repeats it.
    public let score: Int

    /// Takes a name and a time; `nil` when one is invalid.
    public init?(name: [UInt8], score: Int) {
        guard name.count > 2, name.count <= PushLimits.idBytesMax, name[1] == UInt8(ascii: ":"),
            Timestamp.range.contains(score)
        else { return nil }
        switch name[0] {
        case UInt8(ascii: "n"): source = .notification
        case UInt8(ascii: "c"): source = .conversation
        default: return nil
        }
        guard Topic.isID(name.dropFirst(2)) else { return nil }
        self.name = name
        self.score = score
    }

    /// The id of the notification or conversation.
    public var id: [UInt8] { Array(name.dropFirst(2)) }

    /// The `apns-collapse-id`: a later push of the same id replaces the earlier one.
    ///
    /// At most 64 bytes. A longer name ends with its hash.
    public var collapseID: [UInt8] {
        guard name.count > 64 else { return name }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Array(name.prefix(47)) + [UInt8(ascii: "~")] + Array(String(hash, radix: 16).utf8)
    }
}

/// The pushes of one user that a courier is to send: the request of a call of the service `apns`.
public struct PushRequest: Sendable, Equatable {
    /// The user.
    public let user: [UInt8]
    /// The waiting items, in order.
    public let items: [PushItem]

    /// Reads the request of a call; `nil` when it is malformed.
    public init?(_ request: JSON.Value) {
        guard let user = request["user"]?.stringBytes, Topic.isID(user), let pushes = request["pushes"],
            pushes.kind == .array
        else { return nil }
        self.user = user
        items = pushes.members.prefix(PushLimits.callMax)
            .compactMap { push in
                guard let name = push["p"]?.stringBytes, let score = push["s"]?.int else { return nil }
                return PushItem(name: name, score: score)
            }
    }
}
