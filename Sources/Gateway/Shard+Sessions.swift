import Commands
import Configuration
import Core
import Dialects
import Reactors
import Rights
import Service
import Transport

/// The log of the shard: faults of scripts, and the ends of clients.
extension Shard {
    /// Logs a script's fault for its author, by the lines of its file.
    func scriptFailed(_ name: String, _ text: String) {
        statistics.commandFaults.add(1)
        let fault = node.library.table[name]?.source.translate(text) ?? text
        log(.error, "a script failed", [("script", name), ("fault", String(fault.prefix(500)))])
    }

    /// Writes a log line.
    func log(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
        node.log.write(level, message, fields)
    }

    /// Logs the end of a client when it is not the usual one.
    func logEnd(_ reason: CloseReason, of peer: Peer?, at address: IPAddress?, bytesUnsent: Int) {
        guard let trouble = ClientTrouble(ending: reason) else { return }
        node.clientLog.write(trouble, nowMs: nowMs) {
            [("reason", reason.rawValue)] + ClientLog.fields(peer?.knownCaller, at: address)
                + ClientLog.fields(peer?.sessions.flatMap(\.topicsHeld) ?? []) + [("bytes", "\(bytesUnsent)")]
        }
    }

    /// Logs the end of a connection in the access log.
    func writeAccess(
        _ connection: Connection, _ transport: ClientAccess.Transport, _ reason: CloseReason, by caller: Caller?
    ) {
        guard let access = node.accessLog, connection.number > 0 else { return }
        let tally = ClientAccess.Tally(
            number: connection.number, lastedMs: nowMs - connection.openedMs, bytesIn: connection.bytesIn,
            bytesOut: connection.bytesOut)
        access.ended(tally, transport, reason, by: caller, at: connection.address)
    }
}
