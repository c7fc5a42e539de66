public import Core
public import Rights
public import Topics

/// The figures and the log, for sessions.
///
/// Thread: the shard's.
public protocol SessionReporting: AnyObject {
    /// Counts something.
    func count(_ figure: SessionFigure)
    /// Logs a failure of a session.
    func log(_ trouble: SessionTrouble, of session: Session)
    /// Counts an event whose receiver no longer exists.
    func undeliverable(_ delivery: Delivery)
}

/// A failure of one session, for the log.
public enum SessionTrouble {
    /// Its token was refused, when shown or later; the text says which.
    case refused(String, TokenFailure)
    /// A message of the client got an error that is the gateway's or Redis's.
    case failed(code: String, message: String, Topic?)
    /// A message of the client was refused, since the client asks more than a rate or a budget allows.
    case limited(message: String, Topic?)
}
