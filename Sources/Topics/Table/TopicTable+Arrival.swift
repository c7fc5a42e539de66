public import Core

/// The normal way of an event: from its channel to the members, in order.
extension TopicTable {
    /// Takes an event of the channel; members receive it after ``endTurn()``, or at their turn of a fan-out round.
    public func received(_ topic: Topic, _ message: ChannelMessage) {
        guard let feed = feeds[topic] else { return }
        let delivery = delivery(message, of: feed)
        holdForJoining(delivery, feed)
        process(delivery, in: feed)
    }

    func delivery(_ message: ChannelMessage, of feed: LocalTopic<Client>) -> Delivery {
        Delivery(topic: feed.topic, message: message, counts: feed.counts)
    }

    /// Delivers an event, keeps it, or repairs what is missing before it.
    func process(_ delivery: Delivery, in feed: LocalTopic<Client>) {
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
            feed.repair?.hold(delivery, countMax: limits.heldEventsMax)
        case .repair(let after):
            feed.repair = FeedRepair(holding: delivery)
            repair(feed, after: after)
        }
    }
}
