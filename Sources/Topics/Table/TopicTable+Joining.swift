import Core
import Dialects
import Operations
import Reactors

/// Answers to joining clients: one read of the log serves all that wait, however many reconnect at once.
extension TopicTable {
    /// Answers the joining clients with a new read, or with the one after the read under way.
    func answerJoining(_ feed: LocalTopic<Client>) {
        guard feed.isConfirmed, case .none = feed.joinRead, !feed.joining.isEmpty else { return }
        let read = newRead()
        feed.joinRead = .waiting(read)
        guard gate.enters(feed, for: .joining, read) else { return }
        readForJoining(feed, read)
    }

    /// Starts the read; it may have been given up while it waited for a slot.
    func readForJoining(_ feed: LocalTopic<Client>, _ read: Int) {
        guard feed.joinRead.number == read else { return pass() }
        let asker = store.isPersonal(feed.topic) ? feed.joining.first?.client.asker : nil
        // A personal topic's read serves one caller, perhaps on several devices; the next read serves the others.
        let count = asker.map { asker in feed.joining.prefix { $0.client.asker == asker }.count } ?? feed.joining.count
        for index in 0..<count { feed.joining[index].isAsked = true }
        let since = feed.earliestSince
        feed.joinRead = .asked(read, since: since, held: [])
        let completion: LogRead.Completion = { [unowned self, feed] result in
            answered(feed, read, result)
            pass()
        }
        if let asker {
            store.read(feed.topic, for: asker, since: since, completion)
        } else {
            store.read(feed.topic, .newest, since: since, completion)
        }
    }

    /// A read was answered: waiting reads are started.
    ///
    /// A link that is down refuses inside the call. One loop then serves any number of waiting reads.
    func pass() {
        gate.leaves()
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        while let (feed, purpose, read) = gate.next() {
            switch purpose {
            case .joining: readForJoining(feed, read)
            case .repair: readForRepair(feed, read)
            }
        }
    }

    private func answered(_ feed: LocalTopic<Client>, _ read: Int, _ result: Result<LogRead.Answer, Refusal>) {
        guard case .asked(read, let since, let held) = feed.joinRead else { return }
        let asked = feed.joining.filter { $0.isAsked }
        switch result {
        case .failure(let refusal):
            feed.joining.removeAll { $0.isAsked }
            feed.endJoinRead()
            for joining in asked { joining.client.refused(refusal, topic: feed.topic, ref: joining.ref) }
            leaveIfEmpty(feed)
        case .success(let answer):
            feed.endJoinRead()
            guard !asked.isEmpty else { break }
            let before = feed.cursor.position
            let meaning = feed.cursor.joined(at: answer.position)
            // An answer of an ended epoch serves no client.
            guard meaning != .stale else { break }
            if case .reset(let start) = meaning { reset(feed, to: start, from: before) }
            admit(asked, to: feed, answer, held, since: since, isFirst: meaning == .adopted)
        }
        answerJoining(feed)
    }

    /// Admits the clients that the answer serves; a client in another epoch than was asked for waits for the next read.
    private func admit(
        _ asked: [Joining<Client>], to feed: LocalTopic<Client>, _ answer: LogRead.Answer, _ held: [Delivery],
        since: Position?, isFirst: Bool
    ) {
        let events = answer.events.map { delivery($0, of: feed) }
        let (following, reached) = TopicTable.following(held, answer.position)
        if isFirst {
            feed.ledger.begins(at: reached, after: nil)
            feed.cursor.repaired(to: reached)
        }
        let isAhead = feed.cursor.position.map { $0.epoch == reached.epoch && $0.offset < reached.offset } ?? false
        for joining in served(asked, of: feed, answer.position, since) {
            let isRecovered = admit(joining, to: feed, answer, events, following)
            let place = feed.add(joining.client, ahead: isAhead ? reached : nil)
            let answer = JoinAnswer(position: answer.position, since: joining.since, isRecovered: isRecovered)
            joining.client.joined(feed, place: place, answer)
            statistics.subscriptions.add(1)
        }
        // Events received during the first join met a topic without a position: they are processed now.
        guard isFirst else { return }
        for delivery in held where delivery.message.position != nil { process(delivery, in: feed) }
        hand(feed)
    }

    /// Takes the clients that the answer serves out of `joining`, all at once: there may be very many.
    ///
    /// Clients that this read was made for stand before later ones.
    private func served(
        _ asked: [Joining<Client>], of feed: LocalTopic<Client>, _ answer: Position, _ since: Position?
    ) -> [Joining<Client>] {
        var served: [Joining<Client>] = []
        var waiting: [Joining<Client>] = []
        for var joining in asked {
            if let own = joining.since, own.epoch == answer.epoch, own.epoch != since?.epoch {
                joining.isAsked = false
                waiting.append(joining)
            } else {
                served.append(joining)
            }
        }
        feed.joining.replaceSubrange(..<min(asked.count, feed.joining.count), with: waiting)
        return served
    }

    /// Sends the answer, the missed events, and those received meanwhile as far as they follow without a hole.
    ///
    /// Returns whether the client received the events that it asked for.
    private func admit(
        _ joining: Joining<Client>, to feed: LocalTopic<Client>, _ answer: LogRead.Answer, _ events: [Delivery],
        _ following: [Delivery]
    ) -> Bool {
        let missed = joining.since.flatMap { answer.missed(since: $0) }
        joining.client.send(
            .subscribed(
                topic: feed.topic, position: answer.position, recovered: missed != nil, state: answer.state),
            ref: joining.ref)
        let count = missed?.count ?? 0
        for delivery in events.suffix(count) { joining.client.deliver(delivery, isBacklog: true) }
        for delivery in following { joining.client.deliver(delivery, isBacklog: false) }
        statistics.recovered.add(count)
        statistics.deliveries.add(count + following.count)
        feed.namespace.deliveries.add(count + following.count)
        feed.ledger.figures.recovered += count
        feed.ledger.figures.handed += count + following.count
        return missed != nil
    }

    /// The events received during the read that follow its answer without a hole, and the position that they reach.
    private static func following(_ held: [Delivery], _ answer: Position) -> ([Delivery], reached: Position) {
        var reached = answer
        var following: [Delivery] = []
        for delivery in held where JoinMerge.follows(delivery.message.position, reached) {
            if let position = delivery.message.position {
                guard position.offset == reached.offset + 1 else { break }
                reached = position
            }
            following.append(delivery)
        }
        return (following, reached)
    }

    /// Keeps an event for the clients of the read under way; a read that waits for a slot will contain it.
    func holdForJoining(_ delivery: Delivery, _ feed: LocalTopic<Client>) {
        if feed.joinRead.hold(delivery, countMax: limits.heldEventsMax) { return }
        feed.endJoinRead()
        answerJoining(feed)
    }
}
