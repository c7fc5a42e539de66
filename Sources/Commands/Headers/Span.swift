import Core

/// The value of `@span`: a script needs keys of several ids, and decides at one of them.
///
/// On one server all of its keys are reached at once. On a Redis Cluster the script runs in the slot of the id that
/// decides, is handed the keys of one other id as they were a moment before, and leaves the rest to steps.
public struct Span: Equatable, Sendable {
    /// The variable of the id that decides on a cluster; `nil`: the script needs one server.
    public let deciding: String?
    /// The variable of the other id, whose keys the script may read on a cluster.
    public let read: String?
    /// The author's reason.
    public let reason: String

    /// Reads `[NAME [reads NAME]] -- WHY`.
    init(header text: String) throws(HeaderFault) {
        let (before, after) = HeaderText.cut(" " + text, at: " -- ") ?? (before: text, after: "")
        reason = HeaderText.trimmed(after)
        guard !reason.isEmpty else {
            throw HeaderFault("behind -- stands why one id is not enough, e.g. -- a move changes both places at once")
        }
        let words = HeaderText.words(before)
        guard words.count < 2 || words.count == 3 && words[1] == "reads" && words[0] != words[2] else {
            throw HeaderFault("before -- stands the id that decides, and perhaps one that is read: roomId reads userId")
        }
        deciding = words.first
        read = words.count == 3 ? words[2] : nil
    }
}
