import Configuration
public import Core
import Reactors
public import Rights
public import Service

/// Kinds of log lines about clients.
///
/// Each kind has a rate of its own, so that a flood of one hides no other.
public enum ClientTrouble: Int, CaseIterable, Sendable {
    /// The client's connection broke without a close, as those of phones do.
    case gone
    /// The gateway ended or refused a connection, for a reason on the side of the client or the network.
    case ended
    /// A client was ended since it read too slowly.
    case slow
    /// A token or an API key was refused.
    case credentials
    /// A page of a forbidden origin tried to connect.
    case origin
    /// A request or a message was refused, since its caller exceeded a rate or a budget.
    case limited
    /// A request without an upgrade arrived at a path of WebSockets, as from a proxy that drops `Upgrade`.
    case upgradeMissing
    /// A request got an answer of 500 or above, or a message of a client an error of that kind.
    case failed

    /// The kind for the end of a connection; `nil` for a usual end.
    public init?(ending reason: CloseReason) {
        switch reason {
        case .normal, .restart, .goingAway, .httpDone, .httpRefused: return nil
        case .peerGone: self = .gone
        case .slowConsumer: self = .slow
        default: self = .ended
        }
    }

    /// The text of the line.
    var message: String {
        switch self {
        case .gone: "a client went away"
        case .ended: "a connection was ended"
        case .slow: "a client read too slowly"
        case .credentials: "credentials were refused"
        case .origin: "an origin was refused"
        case .limited: "a client asks more than its rate"
        case .upgradeMissing: "a WebSocket was asked for without Upgrade; a proxy may drop it"
        case .failed: "a request failed"
        }
    }

    /// The level of the line.
    var level: LogLevel {
        switch self {
        case .gone: .debug
        case .ended, .credentials, .origin: .info
        case .slow, .limited, .upgradeMissing, .failed: .warn
        }
    }
}

/// The part of the log that names clients: one line for each trouble, sampled above a rate.
///
/// No fields are built for a line that is left out. Thread: any.
public final class ClientLog: Sendable {
    private let log: Log
    private let node: String
    private let samplers: Guarded<[LineSampler]>
    /// Lines that were left out, since their kind exceeded its rate.
    let leftOut = Counter()

    /// Maximum bytes logged of a client's text, such as a path.
    private static let textBytesMax = 256

    /// Writes to the log in the name of a node, at most so many lines of a kind in a second.
    public init(_ log: Log, node: String, linesPerSecond: Int) {
        self.log = log
        self.node = node
        let kinds = ClientTrouble.allCases.map { _ in LineSampler(perSecond: linesPerSecond) }
        samplers = Guarded(kinds)
    }

    /// Writes a line, or counts it as left out.
    public func write(
        _ trouble: ClientTrouble, _ message: String? = nil, nowMs: Int, _ fields: () -> [(String, String)]
    ) {
        guard log.takes(trouble.level) else { return }
        guard let before = samplers.withLock({ $0[trouble.rawValue].take(nowMs: nowMs) }) else {
            return leftOut.add(1)
        }
        let more = before > 0 ? [("leftOut", "\(before)")] : []
        log.write(trouble.level, message ?? trouble.message, fields() + [("node", node)] + more)
    }

    /// Reports the number of lines left out when no later line does; called a few times a second.
    public func sweep(nowMs: Int) {
        let untold = samplers.withLock { samplers in
            ClientTrouble.allCases.compactMap { trouble in
                samplers[trouble.rawValue].takeLeftOut(nowMs: nowMs).map { (trouble, $0) }
            }
        }
        for (trouble, count) in untold {
            log.write(
                trouble.level, "lines about clients were left out",
                [("lines", trouble.message), ("leftOut", "\(count)"), ("node", node)])
        }
    }

    // MARK: Fields

    /// The fields that name a caller and its address; no token and no key is among them.
    public static func fields(_ caller: Caller?, at address: IPAddress?) -> [(String, String)] {
        var fields: [(String, String)] = []
        switch caller {
        case .user(let identity): fields.append(("user", text(identity.user)))
        case .service(let holder), .publishable(let holder): fields.append(("key", holder.name))
        case .anonymous, nil: break
        }
        if let address { fields.append(("address", "\(address)")) }
        return fields
    }

    /// The fields that name the topics of a client: the first one, and the number when there are more.
    public static func fields(_ topics: [Topic]) -> [(String, String)] {
        guard let first = topics.first else { return [] }
        return [("topic", "\(first)")] + (topics.count > 1 ? [("topics", "\(topics.count)")] : [])
    }

    /// Bytes of a client as a text of bounded length.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.prefix(textBytesMax), as: UTF8.self)
    }
}
