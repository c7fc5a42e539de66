public import Dialects
public import Topics

/// Joining and leaving topics, for sessions.
///
/// Thread: the shard's.
public protocol TopicAccess: AnyObject {
    /// Lets a session join a topic, for which the budget was charged; it is answered with `subscribed` or refused.
    func join(_ session: Session, _ request: SubscribeRequest, ref: Reference?)
    /// Takes a session out of a topic; `place` is `nil` while it is joining.
    func leave(_ session: Session, _ feed: LocalTopic<Session>, place: Int?)
}

extension TopicTable<Session>: TopicAccess {}
