/// Erases a user from a record, one block in a step: the user's sessions, and topics whose id is the user.
///
/// It ends at the entry that was the newest when it began; what the user does later is recorded anew. Pure.
public struct TraceErasure {
    private let user: [UInt8]
    /// The user's sessions: the open ones, and those that the record names.
    private var sessions: Set<UInt32>
    private var isFinding = true
    /// The number of the next block, and of the one after the last.
    private var block = 0
    private var end: Int?

    /// Erases the user; `open` are the user's open sessions, which the record may not name any more.
    public init(user: [UInt8], open: Set<UInt32>) {
        self.user = user
        sessions = open
    }

    /// Looks at the next block; true once all have been seen twice: to find the sessions, and to blank them.
    public mutating func step(_ trace: SessionTrace) -> Bool {
        let end = end ?? trace.ring.firstBlock + trace.ring.blockCount
        self.end = end
        let next = max(block, trace.ring.firstBlock)
        guard next < end else {
            defer { (isFinding, block) = (false, 0) }
            return !isFinding
        }
        block = next + 1
        let index = next - trace.ring.firstBlock
        if isFinding {
            trace.ring.visit(index) { head, bytes in
                if head.names(user, in: bytes) { sessions.insert(head.session) }
            }
        } else {
            trace.erase(block: index) { head, bytes in sessions.contains(head.session) || isOwn(head, bytes) }
        }
        return false
    }

    private func isOwn(_ head: TraceRing.Head, _ bytes: [UInt8]) -> Bool {
        guard head.kind.hasTopic, let count = bytes[head.content].first else { return false }
        let topic = bytes[head.content].dropFirst().prefix(Int(count))
        return topic.drop { $0 != UInt8(ascii: ":") }.dropFirst().elementsEqual(user)
    }
}
