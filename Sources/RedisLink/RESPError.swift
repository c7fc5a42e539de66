/// The reason why a reply stream cannot be read any further.
///
/// Replies carry no identity, so no reply after the fault can be matched to a call. The connection must be closed and
/// its reader discarded.
public enum RESPError: Error, Equatable, Sendable {
    /// The bytes are not RESP2, or arrays nest deeper than seven; the text is the codec's own and holds no payload.
    case malformed(String)
    /// An array announces more values than ``RESPLimits/elementsMax`` leaves.
    case tooManyElements
    /// The reply is, or announces to be, longer than ``RESPLimits/replyBytesMax``.
    case replyTooLarge
    /// A line is longer than ``RESPLimits/lineBytesMax``, or a length longer than any number.
    case lineTooLong
    /// The codec could not allocate.
    case outOfMemory
    /// The reader has failed before.
    case unusable
}
