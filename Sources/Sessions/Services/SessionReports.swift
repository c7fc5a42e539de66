import Connections
import Core
import Dialects
public import Operations
import Reactors
import Rights
public import Service
public import Topics

/// Counts and logs the events of sessions.
///
/// Thread: the shard's.
public final class SessionReports: SessionReporting {
    private let clientLog: ClientLog
    private let talkers: Talkers
    private let clock: ShardClock
    private let statistics: ShardStatistics

    /// Counts in `statistics` and `talkers`, and writes to `clientLog` with the times of `clock`.
    public init(
        _ clientLog: ClientLog, _ talkers: Talkers, _ clock: ShardClock, _ statistics: ShardStatistics
    ) {
        self.clientLog = clientLog
        self.talkers = talkers
        self.clock = clock
        self.statistics = statistics
    }

    /// Counts in the figure of the same meaning.
    public func count(_ figure: SessionFigure) {
        switch figure {
        case .rateLimited: statistics.rateLimited.add(1)
        case .rateWarned: statistics.rateWarnings.add(1)
        case .authenticationFailed: statistics.authenticationFailures.add(1)
        case .published: statistics.webSocketPublishes.add(1)
        }
    }

    /// Writes a line with the session's caller, address and topics.
    public func log(_ trouble: SessionTrouble, of session: Session) {
        switch trouble {
        case .refused(let message, let failure):
            clientLog.write(.credentials, message, nowMs: clock.nowMs) {
                [("reason", failure.rawValue)] + ClientLog.fields(session.caller, at: session.address)
                    + ClientLog.fields(session.topicsHeld)
            }
        case .failed(let code, let message, let topic): log(.failed, code, message, topic, session)
        case .limited(let message, let topic):
            talkers.refused(session.payer, at: session.address, nowMs: clock.nowMs)
            log(.limited, ErrorCode.rateLimited.rawValue, message, topic, session)
        }
    }

    private func log(
        _ trouble: ClientTrouble, _ code: String, _ message: String, _ topic: Topic?, _ session: Session
    ) {
        clientLog.write(trouble, nowMs: clock.nowMs) {
            [("reason", code), ("error", message)] + ClientLog.fields(session.caller, at: session.address)
                + ClientLog.fields(topic.map { [$0] } ?? [])
        }
    }

    /// Counts the event as dropped, for its topic and for the shard.
    public func undeliverable(_ delivery: Delivery) {
        delivery.counts.countUndeliverable()
        statistics.transport.itemsDropped.add(1)
    }
}
