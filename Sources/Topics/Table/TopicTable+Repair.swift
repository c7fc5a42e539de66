import Connections
import Core
import Dialects
import Operations
import Reactors

/// Repair: a hole is closed from the log before any later event is delivered.
extension TopicTable {
    /// The command link has a new connection, perhaps to another server.
    ///
    /// While the two links led to different servers, the log of one did not have the events published on the other.
    /// Events dropped then are now read from the log.
    public func relinked() {
        for feed in feeds.values where feed.hasUnknown {
            feed.hasUnknown = false
            guard feed.isConfirmed, !feed.cursor.isRepairing, !feed.members.isEmpty else { continue }
            if let after = feed.cursor.doubted() { repair(feed, after: after) }
        }
    }

    /// Fetches the events after a position before any other is delivered.
    func repair(_ feed: LocalTopic<Client>, after position: Position) {
        let read = newRead()
        feed.repair = feed.repair ?? FeedRepair()
        feed.repair?.waits(read)
        guard gate.enters(feed, for: .repair, read) else { return }
        readForRepair(feed, read)
    }

    /// Starts the read; it may have been given up while it waited for a slot.
    func readForRepair(_ feed: LocalTopic<Client>, _ read: Int) {
        guard feed.repair?.number == read, let since = feed.cursor.position else { return pass() }
        feed.repair?.asks(read)
        store.read(feed.topic, .oldest, since: since) { [unowned self, feed] result in
            if feed.repair?.number == read {
                switch result {
                case .failure:
                    feed.repair?.fails()
                    stalled.append(feed)
                case .success(let answer): repaired(feed, answer, since: since)
                }
            }
            hand(feed)
            pass()
        }
    }

    /// Moves to a new epoch of the log: the members receive a `gap`, and its events are fetched from the start (D9).
    func reset(_ feed: LocalTopic<Client>, to start: Position, from before: Position?) {
        tellReset(feed, to: start, from: before)
        repair(feed, after: start)
    }

    private func tellReset(_ feed: LocalTopic<Client>, to start: Position, from before: Position?) {
        feed.ledger.begins(at: start, after: before)
        feed.ledger.figures.resets += 1
        tellGap(feed, start, .reset, after: before)
    }

    private func repaired(_ feed: LocalTopic<Client>, _ answer: LogRead.Answer, since: Position) {
        let before = feed.cursor.position
        if since.epoch != answer.position.epoch, let start = feed.cursor.reset(to: answer.position.epoch) {
            guard answer.position == start else { return reset(feed, to: start, from: before) }
            // The new epoch has no events. After the loss of a master that is so for nearly all of its topics.
            tellReset(feed, to: start, from: before)
            feed.cursor.repaired(to: start)
            return processHeld(feed, upTo: start)
        }
        var reached = since
        if let first = answer.events.first?.position, let hole = Position(epoch: first.epoch, offset: first.offset - 1),
            hole.offset > reached.offset
        {
            skip(feed, from: reached, to: hole)
        }
        for message in answer.events {
            deliver(delivery(message, of: feed), in: feed)
            reached = message.position ?? reached
        }
        statistics.repaired.add(answer.events.count)
        feed.ledger.figures.repaired += answer.events.count
        if reached.offset < answer.position.offset {
            if reached.offset > since.offset {
                feed.cursor.advanced(to: reached)
                return repair(feed, after: reached)
            }
            skip(feed, from: reached, to: answer.position)
        }
        feed.cursor.repaired(to: answer.position)
        processHeld(feed, upTo: answer.position)
    }

    /// Reports events that no log holds any more, before any later event.
    private func skip(_ feed: LocalTopic<Client>, from reached: Position, to hole: Position) {
        feed.ledger.figures.missed += hole.offset - reached.offset
        tellGap(feed, hole, .missed, after: reached)
    }

    /// The log has been delivered up to `top`: the held events are processed.
    ///
    /// A script writes the log before it publishes. A read that began after an event was received therefore contains
    /// the event, unless its epoch is over or its position was forged. Repeating the read would never end.
    private func processHeld(_ feed: LocalTopic<Client>, upTo top: Position) {
        guard let repair = feed.repair, case .asked(_, let before, let hasDropped) = repair.read else { return }
        feed.repair = nil
        feed.ledger.figures.late += before
        let isUnknown = repair.held.prefix(before).contains { !top.includes($0.message.position) }
        feed.hasUnknown = feed.hasUnknown || isUnknown
        for delivery in repair.held.dropFirst(before) { process(delivery, in: feed) }
        // The first event that is ahead started a read; the others were received before that read, too.
        feed.repair?.asksBehindHeld()
        if hasDropped, !feed.cursor.isRepairing, let after = feed.cursor.doubted() { self.repair(feed, after: after) }
    }
}
