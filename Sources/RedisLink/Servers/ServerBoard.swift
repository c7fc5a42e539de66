/// Which servers the links of one thread lead to.
///
/// A board for one server knows it from the start and asks nobody. Any other asks before each dial, so that no link
/// dials an address only because it worked before. A new master closes every link to the old one at once. Thread: that
/// of its links.
public final class ServerBoard {
    private final class Seat {
        weak var socket: RedisSocket?
        init(_ socket: RedisSocket) { self.socket = socket }
    }

    private let asking: ((ServerHint) -> Void)?
    private var seats: [ObjectIdentifier: Seat] = [:]
    /// Whether a hint that nobody waits for was given and not answered yet.
    private var hasHinted = false
    /// What is known now; `nil` before the first answer.
    public private(set) var map: ServerMap?

    /// A board for one server that is always at the same address.
    public init(fixed url: RedisURL) {
        asking = nil
        map = ServerMap(fixed: url.endpoint)
    }

    /// A board that asks; each question is answered by ``take(_:)``, later.
    public init(asking: @escaping (ServerHint) -> Void) {
        self.asking = asking
    }

    /// Takes what is known now: links to other servers end, and those that wait for an answer dial.
    public func take(_ map: ServerMap) {
        self.map = map
        hasHinted = false
        let sockets = seats.values.compactMap(\.socket)
        for socket in sockets { socket.told(map) }
    }

    /// Somebody has a reason to look again; nothing happens on a board for one server.
    ///
    /// Each dial asks. Of other hints one is under way at a time, since a busy link may have thousands.
    public func hint(_ hint: ServerHint) {
        guard hint == .dialling || !hasHinted else { return }
        hasHinted = hasHinted || hint != .dialling
        asking?(hint)
    }

    /// Whether the address has to be asked for before each dial.
    var asks: Bool { asking != nil }

    /// A socket wants to hear of changes.
    func join(_ socket: RedisSocket) {
        guard asks else { return }
        seats[ObjectIdentifier(socket)] = Seat(socket)
    }

    /// A socket has ended.
    func leave(_ socket: RedisSocket) {
        seats[ObjectIdentifier(socket)] = nil
    }
}

@available(*, unavailable)
extension ServerBoard: Sendable {}
