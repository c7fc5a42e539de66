/// The answer to "why did this user not get this event?", in one word.
///
/// The raw values are the API's, and the list is closed.
public enum WhyVerdict: String, CaseIterable, Sendable {
    /// It was written to a connection of the user.
    case delivered
    /// The client asked to continue from a later position: it had the event before.
    case hadBefore = "had_before"
    /// It waits for the client, or is on its way.
    case waiting
    /// No session of the user subscribed to the topic.
    case neverSubscribed = "never_subscribed"
    /// The user had or has no right to the topic.
    case noRights = "no_rights"
    /// The user subscribed after the event.
    case joinedLater = "joined_later"
    /// The user's subscription ended before the event.
    case leftBefore = "left_before"
    /// A newer event replaced it, since the client read too slowly.
    case conflated
    /// The client read too slowly and was closed.
    case slowClosed = "slow_closed"
    /// The connection ended before the event was written.
    case notWritten = "not_written"
    /// The client received a `gap`: it was told that it missed the event.
    case gapTold = "gap_told"
    /// The event is of another epoch than the client's subscription or position.
    case otherEpoch = "other_epoch"
    /// A gateway that may have held the user does not exist any more, and its record went with it.
    case nodeGone = "node_gone"
    /// The user's token had expired or was revoked.
    case tokenRefused = "token_refused"
    /// A block between users: the event is not sent, or says less.
    case mutedByBlock = "muted_by_block"
    /// No such event was published.
    case notPublished = "not_published"
    /// The records do not tell.
    case unknown
}
