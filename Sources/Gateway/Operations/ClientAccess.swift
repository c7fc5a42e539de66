import Core
import Rights
import Service

/// The access log of a node: one line for each opening and end of a client's connection, and for each answered request.
///
/// Connections to the operations listener are not clients' and not logged. Thread: any.
struct ClientAccess: Sendable {
    /// The transport that a connection used last.
    enum Transport: String {
        case http
        case websocket
        case eventStream = "event_stream"
    }

    /// Bytes and duration of a connection.
    struct Tally {
        /// The connection's number on this node.
        let number: Int
        /// Milliseconds since it was opened.
        let lastedMs: Int
        /// Bytes read and written, before encryption.
        let bytesIn: Int
        let bytesOut: Int
    }

    let log: AccessLog

    /// A connection was opened.
    func opened(_ number: Int, overTLS: Bool, at address: IPAddress?) {
        log.write(
            "open", [("connection", "\(number)"), ("tls", "\(overTLS)")] + ClientLog.fields(nil, at: address))
    }

    /// A request was answered.
    func answered(_ number: Int, _ request: [(String, String)], status: Int, tookMs: Int, bytes: Int) {
        log.write(
            "request",
            [("connection", "\(number)"), ("status", "\(status)"), ("ms", "\(tookMs)"), ("bytes", "\(bytes)")]
                + request)
    }

    /// A connection ended.
    func ended(
        _ tally: Tally, _ transport: Transport, _ reason: CloseReason, by caller: Caller?, at address: IPAddress?
    ) {
        log.write(
            "close",
            [
                ("connection", "\(tally.number)"), ("transport", transport.rawValue), ("reason", reason.rawValue),
                ("ms", "\(tally.lastedMs)"), ("bytesIn", "\(tally.bytesIn)"), ("bytesOut", "\(tally.bytesOut)"),
            ] + ClientLog.fields(caller, at: address))
    }
}
