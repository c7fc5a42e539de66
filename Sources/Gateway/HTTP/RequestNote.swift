import Core
import HTTPCodec
import Rights

/// An answered request, for the log.
///
/// Of the target only the path is kept: a query may hold a key or a token.
struct RequestNote {
    /// The head; `nil` for bytes that were no request.
    var head: HTTPRequestHead?
    /// The caller, as far as it was known when the request was answered.
    var caller: Caller?
    /// The client's address; `nil` where it is not known.
    let address: IPAddress?
    /// The status of the answer.
    let status: Int
    /// The error of the answer, where it tells one.
    let failure: HTTPResponse.Failure?
    /// Bytes of the answer's body.
    let bytes: Int
    /// Milliseconds from the head to the answer.
    let tookMs: Int
    /// The connection's number; 0 where the access log does not have it.
    let connection: Int

    /// Whether the log has the trouble already, as the end of the connection.
    var isTold = false

    /// The status of a request whose client left before it was answered; no client ever gets it.
    static let abandoned = 499

    /// Whether the answer is a fault of the gateway or of Redis.
    ///
    /// The routes of operations answer 503 as their usual word.
    private var isFault: Bool {
        status >= 500 && !(head.map { OperationsRoute.owns($0.path) } ?? false)
    }

    /// Writes the lines that are due.
    func write(to shard: Shard) {
        if let access = shard.node.accessLog, connection > 0 {
            access.answered(
                connection, request + ClientLog.fields(caller, at: address), status: status, tookMs: tookMs,
                bytes: bytes)
        }
        guard isFault, !isTold else { return }
        shard.node.clientLog.write(.failed, nowMs: shard.nowMs) {
            let reason = failure.map { [("reason", $0.code), ("error", $0.message)] } ?? []
            return [("status", "\(status)")] + request + reason + ClientLog.fields(caller, at: address)
        }
    }

    private var request: [(String, String)] {
        guard let head else { return [] }
        return [("method", head.method.rawValue), ("path", ClientLog.text(head.path))]
    }
}
