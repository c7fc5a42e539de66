import Core
import HTTPCodec
import Operations
import Reactors
import Rights
import Service

/// An answered request, for the log.
///
/// Of the target only the path is kept, since a query may hold a key or a token.
struct RequestNote {
    /// The head; `nil` for bytes that were no request.
    var head: HTTPRequestHead?
    /// The caller, as far as it was known when the request was answered.
    var caller: Caller?
    /// The client's address; `nil` where it is not known.
    let address: IPAddress?
    /// The status of the answer.
    let status: Int
    /// The error of the answer, where it contains one.
    let failure: HTTPResponse.Failure?
    /// Bytes of the answer's body.
    let bytes: Int
    /// Milliseconds from the head to the answer.
    let tookMs: Int
    /// The connection's number; 0 where the access log does not cover it.
    let connection: Int

    /// Whether the trouble has been logged already, as the end of the connection.
    var isReported = false

    /// The status of a request whose client left before the answer; it is never sent.
    static let abandoned = 499

    /// Whether an answer may have a line: most have none, and their note need not be made.
    ///
    /// No status below 400 is a trouble.
    static func isWritten(status: Int, to context: HTTPContext) -> Bool {
        status >= 400 || context.accessLog != nil
    }

    /// Kind of trouble that the response's status stands for; `nil` for none.
    ///
    /// The routes of operations use 503 as a regular answer.
    private var trouble: ClientTrouble? {
        switch status {
        case 400 where asksForWebSocket, 426: .upgradeMissing
        case 429: .limited
        case 500...: head.map { OperationsRoute.owns($0.path) } ?? false ? nil : .failed
        default: nil
        }
    }

    /// Whether a client sent the head for a WebSocket; proxies that drop `Upgrade` pass this field on.
    private var asksForWebSocket: Bool {
        head?.headers.values(of: "sec-websocket-key").isEmpty == false
    }

    /// Writes the log lines of the request.
    func write(to context: HTTPContext) {
        if let access = context.accessLog, connection > 0 {
            access.answered(
                connection, request + ClientLog.fields(caller, at: address), status: status, tookMs: tookMs,
                bytes: bytes)
        }
        guard let trouble, !isReported else { return }
        if trouble == .upgradeMissing { context.statistics.upgradesMissing.add(1) }
        if trouble == .limited {
            let payer = context.rates.payer(caller ?? .anonymous, at: address)
            context.talkers.refused(payer, at: address, nowMs: context.clock.nowMs)
        }
        context.clientLog.write(trouble, nowMs: context.clock.nowMs) {
            let reason = failure.map { [("reason", $0.code), ("error", $0.message)] } ?? []
            return [("status", "\(status)")] + request + reason + ClientLog.fields(caller, at: address)
        }
    }

    private var request: [(String, String)] {
        guard let head else { return [] }
        return [("method", head.method.rawValue), ("path", ClientLog.text(head.path))]
    }
}
