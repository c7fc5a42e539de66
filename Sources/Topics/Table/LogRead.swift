public import Core

/// A read of a topic: its position, events after a position, and its state, all at one point in time.
public enum LogRead: Sendable {
    /// The part of the events that is read.
    public enum Order: String, Sendable {
        /// The newest ones after the position, down to the end: for clients that join.
        case newest
        /// The oldest ones after the position that the log has: for a repair, which reads on until the end.
        case oldest
    }

    /// The result of a read.
    public struct Answer: Equatable, Sendable {
        /// The position of the newest event in the log when it was read.
        public var position: Position
        /// Consecutive; with `newest` they end at ``position``.
        public var events: [ChannelMessage]
        /// A JSON object; `nil` where the topic has no state, or none was asked for.
        public var state: [UInt8]?

        /// An answer in which `events` end at or before `position`; they are empty when nothing was missed.
        public init(position: Position, events: [ChannelMessage], state: [UInt8]?) {
            self.position = position
            self.events = events
            self.state = state
        }

        /// The events after `since`, for a client that has received everything up to it; `nil` when some are not here.
        func missed(since: Position) -> ArraySlice<ChannelMessage>? {
            guard since.epoch == position.epoch, since.offset <= position.offset else { return nil }
            let missing = position.offset - since.offset
            return missing <= events.count ? events.suffix(missing) : nil
        }
    }

    /// Receives the result once, on the thread that asked.
    public typealias Completion = (Result<Answer, Refusal>) -> Void

    /// The consecutive part of a reply's entries: up to the end for `newest`, from the first one for `oldest`.
    ///
    /// `nil` is an entry that is no event.
    public static func consecutive(_ entries: [ChannelMessage?], _ order: Order, upTo top: Int) -> [ChannelMessage] {
        switch order {
        case .newest:
            var result: [ChannelMessage] = []
            for entry in entries.reversed() {
                guard let entry, entry.position?.offset == top - result.count else { break }
                result.append(entry)
            }
            return result.reversed()
        case .oldest:
            var result: [ChannelMessage] = []
            for entry in entries.drop(while: { $0 == nil }) {
                guard let entry, let offset = entry.position?.offset, offset <= top else { break }
                if let last = result.last?.position?.offset, offset != last + 1 { break }
                result.append(entry)
            }
            return result
        }
    }
}
