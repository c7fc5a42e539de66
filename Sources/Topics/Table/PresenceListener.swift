public import Core

/// A receiver of a topic's presence: a session, or a model of one in tests.
///
/// Thread: the shard's.
public protocol PresenceListener: AnyObject {
    /// The encoding of its events.
    var encoding: Encoding { get }
    /// Sends the list of all members, as the encoding wrote it; `nil` where the dialect has no such message.
    func sendPresenceState(_ topic: Topic, _ members: [UInt8]?)
    /// Delivers a change of the list.
    func deliver(_ delivery: Delivery, isBacklog: Bool)
}
