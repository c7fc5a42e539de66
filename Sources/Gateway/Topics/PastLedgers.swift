import Core

/// The ledgers of topics without members, kept in the order of their end; beyond the bound the oldest are forgotten.
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
        // A topic may stand in the order more than once; its first place then takes it out, which is early, not wrong.
        while order.count > capacity, let oldest = order.popFirst() { ledgers[oldest] = nil }
    }

    mutating func take(_ topic: Topic) -> TopicLedger? {
        ledgers.removeValue(forKey: topic)
    }
}
