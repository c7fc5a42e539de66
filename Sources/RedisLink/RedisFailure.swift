public import Core

/// The reason why Redis did not do a call: any error reply, and any failure on the way (failure catalogue R10).
///
/// A failure is never success, each has one ``reaction-swift.property``, and none is retried without a pause.
public struct RedisFailure: Error, Equatable, Sendable {
    /// The kinds of failure; the raw value is the metric label and the log field.
    public enum Kind: String, CaseIterable, Sendable {
        /// `READONLY`: a replica, usually a demoted master.
        case readOnly = "readonly"
        /// No known server accepts writes; reported by ``SentinelWatch``, never by a server.
        case noMaster = "no_master"
        /// `LOADING`: the data set is being read from disk.
        case loading
        /// `MASTERDOWN`: a replica that has lost its master and may not serve stale data.
        case masterDown = "masterdown"
        /// `BUSY`: a script of any client has been running too long.
        case busy
        /// `NOREPLICAS`: fewer good replicas than `min-replicas-to-write`.
        case noReplicas = "noreplicas"
        /// `MISCONF`: persistence fails and writes are refused.
        case misconfigured = "misconf"
        /// `OOM`: above `maxmemory`.
        case outOfMemory = "oom"
        /// `NOAUTH`: no credentials were given.
        case noAuthentication = "noauth"
        /// `WRONGPASS`: credentials were given and are wrong.
        case wrongPassword = "wrongpass"
        /// `NOPERM`: the ACL forbids the call, key or channel.
        case noPermission = "noperm"
        /// `NOSCRIPT`: the script cache lacks the script; ``ScriptLanes`` repairs it.
        case noScript = "noscript"
        /// `WRONGTYPE`: a key holds another type than expected.
        case wrongType = "wrongtype"
        /// `CLUSTERDOWN`: slots are not covered.
        case clusterDown = "clusterdown"
        /// `MOVED` or `ASK`: another node has the slot.
        case moved
        /// `TRYAGAIN`: the slot is moving.
        case tryAgain = "tryagain"
        /// `CROSSSLOT`: keys of several slots in one call.
        case crossSlot = "crossslot"
        /// `EXECABORT`: a transaction was discarded.
        case aborted = "execabort"
        /// `UNBLOCKED`: the server was demoted while a call waited.
        case unblocked
        /// The server accepts no further client.
        case maxClients = "maxclients"
        /// A script raised it, with its own code word `SWB_...` or as a Lua error.
        case script
        /// No reply before the deadline.
        case timedOut = "timeout"
        /// The connection was lost, or there is none.
        case disconnected
        /// The keys have names of another layout than this process uses; reported by ``LayoutGuard``, never by a
        /// server.
        case otherLayout = "layout"
        /// A live process keeps data of another format; reported by ``LayoutGuard``, never by a server.
        case otherFormat = "format"
        /// Too many calls wait on the link; nothing was sent.
        case inFlightFull = "inflight_full"
        /// The call exceeds a limit; nothing was sent.
        case tooLarge = "too_large"
        /// The reply stream or the shape of a reply is wrong.
        case protocolViolation = "protocol"
        /// Any other error reply.
        case other
    }

    /// The link's reaction to a failure.
    public enum Reaction: Equatable, Sendable {
        /// Stay connected; the same call to the same server may succeed after the pause.
        case retrySame(afterMs: Int)
        /// Close, resolve the address again and connect with back-off: this server will not do it, or not on this
        /// connection.
        case reconnect
        /// Stay connected and report the failure to the caller: repeating is useless until a person fixes the cause.
        case failFast
    }

    /// The kind.
    public let kind: Kind
    /// The server's message, for logs: at most ``detailBytesMax`` printable ASCII bytes; never sent to clients.
    public let detail: String

    /// The most bytes of the server's message that are kept.
    public static let detailBytesMax = 200

    /// Makes a failure of a kind with the system's message about it.
    public init(_ kind: Kind, text: String) {
        self.kind = kind
        detail = String(decoding: text.utf8.prefix(RedisFailure.detailBytesMax), as: UTF8.self)
    }

    /// Makes a failure without a reply.
    public init(_ kind: Kind, detail: StaticString = "") {
        self.kind = kind
        self.detail = String(describing: detail)
    }

    /// Classifies an error line, without its leading `-`.
    public init(reply line: [UInt8]) {
        kind = RedisFailure.classify(line)
        let shown = line.prefix(RedisFailure.detailBytesMax).map { byte in
            byte >= 0x20 && byte < 0x7f ? byte : UInt8(ascii: "?")
        }
        detail = String(decoding: shown, as: UTF8.self)
    }

    /// Classifies a fault of the reply stream.
    public init(_ error: RESPError) {
        kind = .protocolViolation
        detail =
            switch error {
            case .malformed(let text): text
            case .tooManyElements: "array announces too many elements"
            case .replyTooLarge: "reply too large"
            case .lineTooLong: "line too long"
            case .outOfMemory: "out of memory"
            case .unusable: "reader unusable"
            }
    }

    /// The name of the kind in metrics.
    public var metricLabel: String { kind.rawValue }

    /// The link's reaction to it.
    public var reaction: Reaction {
        switch kind {
        case .noScript: .retrySame(afterMs: 0)
        case .tryAgain: .retrySame(afterMs: 50)
        case .busy: .retrySame(afterMs: 100)
        case .loading: .retrySame(afterMs: 250)
        case .noReplicas, .clusterDown: .retrySame(afterMs: 500)
        case .readOnly, .masterDown, .noAuthentication, .wrongPassword, .maxClients, .timedOut, .disconnected,
            .protocolViolation, .unblocked, .noMaster, .otherLayout, .otherFormat:
            .reconnect
        // Cluster links know where to send it; on one server nothing is moved.
        case .moved, .misconfigured, .outOfMemory, .noPermission, .wrongType, .crossSlot, .aborted, .script,
            .inFlightFull,
            .tooLarge, .other:
            .failFast
        }
    }

    /// Whether Redis may have executed the call although no success was received.
    ///
    /// A retry then needs an idempotency key (failure catalogue R12). A script may write before it fails.
    public var mayHaveExecuted: Bool {
        switch kind {
        case .timedOut, .disconnected, .protocolViolation, .script, .wrongType, .unblocked, .other: true
        case .readOnly, .loading, .masterDown, .busy, .noReplicas, .misconfigured, .outOfMemory, .noAuthentication,
            .wrongPassword, .noPermission, .noScript, .clusterDown, .moved, .tryAgain, .crossSlot, .aborted,
            .maxClients, .inFlightFull, .tooLarge, .noMaster, .otherLayout, .otherFormat:
            false
        }
    }

    /// The refusal for the caller of the gateway; it never contains the server's message.
    public var refusal: Refusal {
        switch kind {
        case .noPermission, .wrongType, .crossSlot, .aborted, .script, .other:
            Refusal(.internalError, "the store refused the operation")
        case .tooLarge:
            Refusal(.tooLarge, "the operation is too large for the store")
        case .inFlightFull:
            .storeOverloaded
        case .timedOut:
            Refusal(.unavailable, "the store did not answer in time; try again with the same id")
        case .readOnly, .loading, .masterDown, .busy, .noReplicas, .misconfigured, .outOfMemory, .noAuthentication,
            .wrongPassword, .noScript, .clusterDown, .moved, .tryAgain, .maxClients, .disconnected, .protocolViolation,
            .unblocked, .noMaster, .otherLayout, .otherFormat:
            .storeUnavailable
        }
    }
}

extension Refusal {
    /// The refusal of a call that no link can take: nothing was sent.
    public static let storeUnavailable = Refusal(.unavailable, "the store is not available; try again")

    /// The refusal of a call for which there is no room: nothing was sent.
    public static let storeOverloaded = Refusal(.unavailable, "the store is overloaded; try again")
}
