import Core

/// The ledgers of topics without members, in the order in which they ended; beyond the capacity the oldest are dropped.
struct PastLedgers {
    private let capacity: Int
    private var ledgers: [Topic: TopicLedger] = [:]
    private var order = Ring<Topic>()

    init(capacity: Int) {
        self.capacity = capacity
    }

    subscript(topic: Topic) -> TopicLedger? { ledgers[topic] }

    mutating func keep(_ ledger: TopicLedger, of topic: Topic) {
        ledgers[topic] = ledger
        order.append(topic)
        // A topic may be queued more than once. Its first place then removes it, which is early, not wrong.
        while order.count > capacity, let oldest = order.popFirst() { ledgers[oldest] = nil }
    }

    mutating func take(_ topic: Topic) -> TopicLedger? {
        ledgers.removeValue(forKey: topic)
    }
}
