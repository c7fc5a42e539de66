import Connections
import Core
import Operations
import Reactors
import RedisLink

/// The answer of a data server about loading its own append-only file.
struct ServerRights: Equatable, Sendable {
    /// Address of the server: `host:port`, or the path of a socket.
    let place: String
    let rights: LoadRights
    let isReplica: Bool
}

/// Findings of `switchboard check` about the user as which Redis loads its own file.
extension Preflight {
    /// Judges the servers' answers; `user` is the user as which gateways log in.
    static func judge(_ loads: [ServerRights], user: String) -> [Finding] {
        var findings: [Finding] = []
        let sufficient = loads.count { $0.rights == .sufficient }
        if sufficient > 0 {
            let servers = sufficient == 1 ? "1 server" : "\(sufficient) servers"
            findings.add(.good, "the user `default` may load the append-only file of \(servers)")
        }
        for load in loads {
            guard let mend = load.rights.mend(for: user) else { continue }
            switch load.rights {
            case .missing(let words):
                findings.add(
                    .wrong,
                    "\(load.place): a restart of Redis would lose what scripts wrote. It loads its append-only file as"
                        + " the user `default`, who lacks rights (\(words)): \(mend)")
            case .unknown(let failure):
                findings.add(
                    .doubtful,
                    "\(load.place) does not say whether its user `default` may load its append-only file"
                        + " (\(failure.metricLabel)); if not, a restart loses what scripts wrote: \(mend)")
            case .notNeeded, .sufficient: break
            }
        }
        return findings
    }
}

/// Asks masters, and the replicas that they name, whether they could load their own files.
///
/// A replica has an ACL of its own, and may be the next master. Thread: the caller's.
final class RightsSurvey {
    private let context: ConnectionContext
    private let target: RedisTarget
    private let prefix: [UInt8]
    private var looks: [RightsLook] = []

    init(_ context: ConnectionContext, _ target: RedisTarget, prefix: [UInt8]) {
        self.context = context
        self.target = target
        self.prefix = prefix
    }

    /// Asks a master by its link, and each of its replicas by a connection.
    ///
    /// `completion` runs when all have answered, after `redisConnectMs` and `redisCallMs` at the latest.
    func ask(_ link: CallLink, place: String, _ completion: @escaping ([ServerRights]) -> Void) {
        let replicas = link.facts?.replication.replicas ?? []
        var loads: [ServerRights] = []
        func learned(_ place: String, _ rights: LoadRights, isReplica: Bool) {
            loads.append(ServerRights(place: place, rights: rights, isReplica: isReplica))
            guard loads.count == replicas.count + 1 else { return }
            completion(loads.sorted { ($0.isReplica ? 1 : 0, $0.place) < ($1.isReplica ? 1 : 0, $1.place) })
        }
        for replica in replicas {
            let look = try? RightsLook(context, target, at: replica, name: "switchboard-check", prefix: prefix) {
                learned(replica.text, $0, isReplica: true)
            }
            guard let look else {
                learned(replica.text, .unknown(RedisFailure(.disconnected)), isReplica: true)
                continue
            }
            looks.append(look)
        }
        link.askLoadRights(prefix: prefix) { learned(place, $0, isReplica: false) }
    }

    /// Ends the pending questions.
    func stop() {
        for look in looks { look.cancel() }
        looks = []
    }
}
