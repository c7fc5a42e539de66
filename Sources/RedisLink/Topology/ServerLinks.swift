internal import Reactors

/// The links of one purpose, one to each server: made and ended as placements say.
///
/// Thread: the reactor's.
final class ServerLinks<Link> {
    /// Makes the link to a server.
    typealias Make = (ServerID, RedisTarget, PrimaryDirectory) throws(Errno) -> Link

    private let target: RedisTarget
    /// The directory for the only server; `nil` where placements name the servers.
    private let directory: PrimaryDirectory?
    private var entries: [ServerID: (address: ClusterAddress?, link: Link)] = [:]

    /// Has no link yet; `asking` receives the reasons to ask for the placement.
    init(_ target: RedisTarget, asking: @escaping (ServerHint) -> Void) {
        self.target = target
        directory = target.topology.directory(target, asking: asking)
    }

    /// Makes the link to the only server; elsewhere ``follow(_:make:end:)`` makes the links.
    func begin(_ make: Make) throws(Errno) {
        guard let directory else { return }
        entries[[]] = (nil, try make([], target, directory))
    }

    /// Takes a placement: each master gets a link, and other nodes lose theirs.
    func follow(_ placement: Placement, make: Make, end: (Link) -> Void) {
        switch placement {
        case .servers(let map): directory?.take(map)
        case .slots(let map):
            for (id, entry) in entries where map.master(id)?.address != entry.address {
                entries[id] = nil
                end(entry.link)
            }
            for master in map.masters where entries[master.id] == nil {
                let (address, id) = (master.address, master.id)
                guard let made = try? make(id, target.at(address), target.directory(address)) else { continue }
                entries[id] = (address, made)
            }
        }
    }

    /// The link to a server; `nil` when there is none.
    subscript(server: ServerID) -> Link? { entries[server]?.link }

    /// All links.
    var all: [Link] { entries.values.map(\.link) }

    /// Forgets all links.
    func removeAll() { entries = [:] }
}

@available(*, unavailable)
extension ServerLinks: Sendable {}
