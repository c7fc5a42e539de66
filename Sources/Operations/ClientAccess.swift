public import Connections
public import Core
public import Rights
public import Service
import Synchronization

/// The access log of a node: one line for each opening and end of a client's connection, and for each answered request.
///
/// Connections to the operations listener are not clients' and not logged. Thread: any.
public final class ClientAccess: Sendable {
    /// The transport that a connection used last.
    public enum Transport: String, Sendable {
        case http
        case websocket
        case eventStream = "event_stream"
    }

    /// The file or pipe that receives the lines.
    public let log: AccessLog
    /// The number of the newest connection.
    private let newest = Atomic<Int>(0)

    /// Writes to `log`; connection numbers begin at 1.
    public init(log: AccessLog) {
        self.log = log
    }

    /// A number that no other connection of this node has had.
    public func newNumber() -> Int { newest.add(1, ordering: .relaxed).newValue }

    /// A connection was opened.
    public func opened(_ number: Int, overTLS: Bool, at address: IPAddress?) {
        log.write(
            "open", [("connection", "\(number)"), ("tls", "\(overTLS)")] + ClientLog.fields(nil, at: address))
    }

    /// A request was answered.
    public func answered(_ number: Int, _ request: [(String, String)], status: Int, tookMs: Int, bytes: Int) {
        log.write(
            "request",
            [("connection", "\(number)"), ("status", "\(status)"), ("ms", "\(tookMs)"), ("bytes", "\(bytes)")]
                + request)
    }

    /// A connection ended; one without a number is no client's, and not logged.
    public func ended(
        _ connection: Connection, _ transport: Transport, _ reason: CloseReason, by caller: Caller?, nowMs: Int
    ) {
        guard connection.number > 0 else { return }
        log.write(
            "close",
            [
                ("connection", "\(connection.number)"), ("transport", transport.rawValue), ("reason", reason.rawValue),
                ("ms", "\(nowMs - connection.openedMs)"), ("bytesIn", "\(connection.bytesIn)"),
                ("bytesOut", "\(connection.bytesOut)"),
            ] + ClientLog.fields(caller, at: connection.address))
    }
}
