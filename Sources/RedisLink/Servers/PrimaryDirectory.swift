/// The directory of servers for the links of one thread.
///
/// A directory for a single server knows it from the start and asks nothing. Any other asks before each dial, so that
/// no link dials an address only because it worked before. A new master closes every link to the old one at once.
///
/// Thread: that of its links.
public final class PrimaryDirectory {
    private final class Seat {
        weak var socket: RedisSocket?
        init(_ socket: RedisSocket) { self.socket = socket }
    }

    private let asking: ((ServerHint) -> Void)?
    private var seats: [ObjectIdentifier: Seat] = [:]
    /// Whether a hint other than a dial was given and is not answered yet.
    private var hasHinted = false
    /// The present map; `nil` before the first answer.
    public private(set) var map: ServerMap?

    /// Makes a directory for one server at a constant address.
    public init(fixed url: RedisURL) {
        asking = nil
        map = ServerMap(fixed: url.endpoint)
    }

    /// Makes a directory that asks; ``take(_:)`` answers each question, later.
    public init(asking: @escaping (ServerHint) -> Void) {
        self.asking = asking
    }

    /// Takes the present map: links to other servers end, and links that wait for an answer dial.
    public func take(_ map: ServerMap) {
        self.map = map
        hasHinted = false
        let sockets = seats.values.compactMap(\.socket)
        for socket in sockets { socket.told(map) }
    }

    /// Takes a reason to ask again; does nothing for a single server.
    ///
    /// Each dial asks. Only one other hint is under way at a time, since a busy link may give thousands.
    public func hint(_ hint: ServerHint) {
        guard hint == .dialling || !hasHinted else { return }
        hasHinted = hasHinted || hint != .dialling
        asking?(hint)
    }

    /// Whether the address has to be asked for before each dial.
    var asks: Bool { asking != nil }

    /// Adds a socket, which is notified of changes.
    func join(_ socket: RedisSocket) {
        guard asks else { return }
        seats[ObjectIdentifier(socket)] = Seat(socket)
    }

    /// Removes a socket that has ended.
    func leave(_ socket: RedisSocket) {
        seats[ObjectIdentifier(socket)] = nil
    }
}

@available(*, unavailable)
extension PrimaryDirectory: Sendable {}
