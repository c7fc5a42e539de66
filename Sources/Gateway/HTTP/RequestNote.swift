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

    /// Whether the answer is a fault of the gateway or of Redis.
    ///
    /// The routes of operations answer 503 as their usual word.
    private var isFault: Bool {
        status >= 500 && !(head.map { OperationsRoute.owns($0.path) } ?? false)
    }

    /// Writes the lines that are due.
    func write(to shard: Shard) {
        guard isFault else { return }
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
