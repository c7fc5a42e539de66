import Core
import Dialects
import Reactors
import Transport

/// How events reach the members in order, and how a hole is closed from the log before anything follows it.
extension TopicTable {
    /// Delivers an event, keeps it, or repairs what is missing before it.
    func process(_ delivery: Delivery, in feed: TopicFeed<Client>) {
        guard let position = delivery.message.position else {
            feed.ledger.figures.plain += 1
            return deliver(delivery, in: feed)
        }
        switch feed.cursor.received(position) {
        case .deliver:
            feed.ledger.figures.came += 1
            deliver(delivery, in: feed)
        case .ignore:
            feed.ledger.figures.late += 1
        case .hold:
            // Beyond the bound the rest is dropped and fetched by another repair after this one.
            if feed.held.count < limits.heldEventsMax { feed.held.append(delivery) } else { feed.hasDropped = true }
        case .repair(let after):
            guard repairs else {
                feed.cursor.repaired(to: position)
                feed.ledger.figures.came += 1
                return deliver(delivery, in: feed)
            }
            feed.held.append(delivery)
            repair(feed, after: after)
        }
    }

    // MARK: Repair

    /// The command link has a new connection, perhaps to another server.
    ///
    /// While the two links led to different servers, one server's log did not have what the other one published. What
    /// was dropped then is asked for once more.
    func relinked() {
        for feed in feeds.values where feed.hasUnknown {
            feed.hasUnknown = false
            guard feed.isConfirmed, !feed.cursor.isRepairing, !feed.members.isEmpty else { continue }
            if let after = feed.cursor.doubted() { repair(feed, after: after) }
        }
    }

    /// Fetches what follows a position before anything else is delivered.
    func repair(_ feed: TopicFeed<Client>, after position: Position) {
        guard repairs else { return feed.cursor.repaired(to: position) }
        let read = newRead()
        feed.repairRead = read
        feed.heldBeforeRead = feed.held.count
        feed.hasDropped = false
        guard gate.enters(feed, for: .repair, read) else { return }
        readForRepair(feed, read)
    }

    /// Asks the store; `read` may be over already when it had to wait for its turn.
    func readForRepair(_ feed: TopicFeed<Client>, _ read: Int) {
        guard feed.repairRead == read, let since = feed.cursor.position else { return pass() }
        feed.heldBeforeRead = feed.held.count
        feed.hasDropped = false
        store.read(feed.topic, .oldest, since: since) { [unowned self, feed] result in
            if feed.repairRead == read {
                feed.repairRead = 0
                switch result {
                case .failure: stalled.append(feed)
                case .success(let answer): repaired(feed, answer, since: since)
                }
            }
            hand(feed)
            pass()
        }
    }

    /// The log has begun another epoch: the members are told, and what it holds is fetched from its start (D9).
    func reset(_ feed: TopicFeed<Client>, to start: Position, from before: Position?) {
        feed.ledger.begins(at: start, after: before)
        feed.ledger.figures.resets += 1
        tellGap(feed, start, .reset)
        repair(feed, after: start)
    }

    private func repaired(_ feed: TopicFeed<Client>, _ answer: LogRead.Answer, since: Position) {
        let before = feed.cursor.position
        if since.epoch != answer.position.epoch, let start = feed.cursor.reset(to: answer.position.epoch) {
            return reset(feed, to: start, from: before)
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
            if !answer.events.isEmpty {
                feed.cursor.advanced(to: reached)
                return repair(feed, after: reached)
            }
            skip(feed, from: reached, to: answer.position)
        }
        feed.cursor.repaired(to: answer.position)
        processHeld(feed, upTo: answer.position)
    }

    /// What no log holds any more is told before anything that follows it.
    private func skip(_ feed: TopicFeed<Client>, from reached: Position, to hole: Position) {
        feed.ledger.figures.missed += hole.offset - reached.offset
        tellGap(feed, hole, .missed)
    }

    /// The log has been delivered up to `top`: what was held meanwhile goes its way.
    ///
    /// A script writes the log before it publishes. So a read that was asked for after an event came has brought the
    /// event, or nobody has written it: its epoch is over, or its position was forged. Asking again would never end.
    private func processHeld(_ feed: TopicFeed<Client>, upTo top: Position) {
        let (held, before, hasDropped) = (feed.held, feed.heldBeforeRead, feed.hasDropped)
        feed.endRepair()
        feed.ledger.figures.late += before
        feed.hasUnknown = feed.hasUnknown || held.prefix(before).contains { !top.includes($0.message.position) }
        for delivery in held.dropFirst(before) { process(delivery, in: feed) }
        // The first of them that is ahead made a read be asked for; the others came before that read, too.
        if feed.repairRead != 0 { feed.heldBeforeRead = feed.held.count }
        if hasDropped, !feed.cursor.isRepairing, let after = feed.cursor.doubted() { repair(feed, after: after) }
    }
}
