import Core

/// Requests for several topics, whose answers are collected, since an acknowledgement can be sent only once.
///
/// Bounded: ``batchesMax`` batches, each of as many topics as one request may name. A topic's position or its error is
/// stored. Its state is not stored: the event `subscribed` sends it at once.
struct SubscribeBatches: Sendable {
    /// The most batches of one connection that wait for answers.
    static let batchesMax = 16

    private struct Batch {
        let sessionID: SessionID
        let topics: [Topic]
        var results: [[UInt8]?]
        var missing: Int
    }

    private var batches: [Int: Batch] = [:]
    private var last = 0

    /// Begins a batch; `nil` when too many wait.
    mutating func begin(_ topics: [Topic], at sessionID: SessionID) -> Int? {
        guard batches.count < SubscribeBatches.batchesMax else { return nil }
        last += 1
        batches[last] = Batch(
            sessionID: sessionID, topics: topics, results: Array(repeating: nil, count: topics.count),
            missing: topics.count)
        return last
    }

    /// Stores the answer for one topic; returns all of them, in the order of the request, with the last.
    mutating func answered(_ number: Int, _ topic: Topic, _ result: [UInt8]) -> [[UInt8]]? {
        guard let index = batches[number]?.topics.firstIndex(of: topic), batches[number]?.results[index] == nil else {
            return nil
        }
        batches[number]?.results[index] = result
        batches[number]?.missing -= 1
        guard let batch = batches[number], batch.missing == 0 else { return nil }
        batches[number] = nil
        return batch.results.compactMap { $0 }
    }

    /// Drops a batch that was refused as a whole; returns whether it was waiting.
    mutating func refused(_ number: Int) -> Bool { batches.removeValue(forKey: number) != nil }

    /// Drops the batches of a session that ended.
    mutating func ended(_ sessionID: SessionID) {
        batches = batches.filter { $0.value.sessionID != sessionID }
    }
}
