public import Core
public import Dialects
public import Rights
public import Topics

/// The presence of topics, for sessions.
///
/// Thread: the shard's.
public protocol PresenceAccess: AnyObject {
    /// Sends a session the members present on a topic, and every change from then on; a read is charged to the payer.
    func watch(_ listener: any PresenceListener, _ topic: Topic, payer: Payer)
    /// Lists a session as present on a topic, for a user, or updates its entry.
    func track(
        _ listener: any PresenceListener, _ request: TrackRequest, user: [UInt8]?, payer: Payer,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    )
    /// Removes a session's entry from a topic.
    func untrack(
        _ listener: any PresenceListener, _ topic: Topic,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void)
    /// A session has left a topic whose presence it watched, or on which it was listed.
    func left(_ listener: any PresenceListener, _ topic: Topic)
}
