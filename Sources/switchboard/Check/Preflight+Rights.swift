import Configuration
import Connections
import Core
import Gateway
import Operations
import Reactors
import RedisLink

/// The answers of a data server about loading its own append-only file, and about the user of gateways.
struct ServerRights: Equatable, Sendable {
    /// Address of the server: `host:port`, or the path of a socket.
    let place: String
    let load: LoadRights
    let user: UserRights
    let isReplica: Bool
}

/// Findings of `switchboard check` about the users of Redis: the one as which it loads its own file, and the gateways'.
extension Preflight {
    /// Judges the servers' answers; `user` is the user as which gateways log in.
    static func judge(_ servers: [ServerRights], user: String) -> [Finding] {
        judgeUser(servers, user) + judgeLoad(servers, user)
    }

    /// The finding about a Redis that can be used, and has not answered the questions about rights.
    static func silence(_ answers: Answers) -> [Finding] {
        guard answers.servers.isEmpty, !answers.findings.contains(where: { $0.verdict == .wrong }) else { return [] }
        let mend = "look at its load and at the network, or raise --limit redisCallMs"
        return [Finding(.wrong, "Redis did not answer in time which rights its users have: \(mend)")]
    }

    static func judgeUser(_ servers: [ServerRights], _ user: String) -> [Finding] {
        var findings: [Finding] = []
        let sufficient = servers.count { $0.user == .sufficient }
        if sufficient > 0 {
            findings.add(.good, "the Redis user \(user) has the rights of a gateway on \(count(sufficient))")
        }
        for server in servers {
            switch server.user {
            case .missing(let rules):
                findings.add(
                    .wrong,
                    "\(server.place): the Redis user \(user) lacks rights of a gateway:"
                        + " ACL SETUSER \(user) \(rules.joined(separator: " ")), then ACL SAVE")
            case .unknown(let failure):
                // A server that does not say who loads its file does not say this, either.
                if case .unknown = server.load { continue }
                let mend =
                    failure.kind == .noPermission
                    ? "ACL SETUSER \(user) \(LoadRights.askingRule), then ACL SAVE"
                    : "ask as an operator: ACL DRYRUN \(user) PING must answer OK"
                findings.add(
                    .doubtful,
                    "\(server.place) does not say whether the Redis user \(user) has the rights of a gateway"
                        + " (\(failure.metricLabel)): \(mend)")
            case .unasked:
                findings.add(
                    .doubtful,
                    "\(server.place) is older than Redis 7.0, and does not say whether the Redis user \(user) has the"
                        + " rights of a gateway: see in /readyz and the log whether all works")
            case .sufficient: break
            }
        }
        return findings
    }

    private static func count(_ servers: Int) -> String { servers == 1 ? "1 server" : "\(servers) servers" }

    static func judgeLoad(_ servers: [ServerRights], _ user: String) -> [Finding] {
        var findings: [Finding] = []
        let sufficient = servers.count { $0.load == .sufficient }
        if sufficient > 0 {
            findings.add(.good, "the user `default` may load the append-only file of \(count(sufficient))")
        }
        for server in servers {
            guard let mend = server.load.mend(for: user) else { continue }
            switch server.load {
            case .missing(let words):
                findings.add(
                    .wrong,
                    "\(server.place): a restart of Redis would lose what scripts wrote. It loads its append-only file as"
                        + " the user `default`, who lacks rights (\(words)): \(mend)")
            case .unknown(let failure):
                findings.add(
                    .doubtful,
                    "\(server.place) does not say whether its user `default` may load its append-only file"
                        + " (\(failure.metricLabel)); if not, a restart loses what scripts wrote: \(mend)")
            case .notNeeded, .sufficient: break
            }
        }
        return findings
    }
}

/// Asks masters, and the replicas that they name, whether they could load their own files, and what our user may do.
///
/// A replica has an ACL of its own, and may be the next master. Thread: the caller's.
final class RightsSurvey {
    private let target: RedisTarget
    private let load: LoadInquiry
    private let user: UserInquiry
    private var looks: [RightsLook] = []

    /// Makes the questions; it reads all scripts, so it comes before the time that Redis has for its answers.
    init(_ parts: NodeParts, _ settings: GatewaySettings) {
        target = parts.redis
        load = LoadInquiry(prefix: settings.keys.prefix)
        user = UserInquiry(parts, settings)
    }

    /// Asks a master by its link, and each of its replicas by a connection.
    ///
    /// `completion` runs when all have answered, after `redisConnectMs` and `redisCallMs` at the latest.
    func ask(
        _ link: CallLink, _ context: ConnectionContext, place: String, _ completion: @escaping ([ServerRights]) -> Void
    ) {
        let replicas = link.facts?.replication.replicas ?? []
        var servers: [ServerRights] = []
        func learned(_ place: String, _ load: LoadRights, _ user: UserRights, isReplica: Bool) {
            servers.append(ServerRights(place: place, load: load, user: user, isReplica: isReplica))
            guard servers.count == replicas.count + 1 else { return }
            completion(servers.sorted { ($0.isReplica ? 1 : 0, $0.place) < ($1.isReplica ? 1 : 0, $1.place) })
        }
        for replica in replicas {
            let look = try? RightsLook(context, target, at: replica, name: "switchboard-check", load, user) {
                learned(replica.text, $0, $1, isReplica: true)
            }
            guard let look else {
                let failure = RedisFailure(.disconnected)
                learned(replica.text, .unknown(failure), .unknown(failure), isReplica: true)
                continue
            }
            looks.append(look)
        }
        link.ask(load) { [user] load in
            link.ask(user) { learned(place, load, $0, isReplica: false) }
        }
    }

    /// Ends the pending questions.
    func stop() {
        for look in looks { look.cancel() }
        looks = []
    }
}
