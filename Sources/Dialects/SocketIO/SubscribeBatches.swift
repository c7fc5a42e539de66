import Core

/// Requests for several topics whose answers are collected, since an acknowledgement can be sent once only.
///
/// Bounded: so many batches, each of as many topics as one request may name. What is kept for a topic is its position or
/// its error. Its state is not kept: it goes to the client at once, by the event `subscribed`.
struct SubscribeBatches: Sendable {
    /// Batches of one connection that wait for answers.
    static let batchesMax = 16

    private struct Batch {
        let door: Door
        let topics: [Topic]
        var results: [[UInt8]?]
        var missing: Int
    }

    private var batches: [Int: Batch] = [:]
    private var last = 0

    /// Begins a batch; `nil` when too many wait.
    mutating func begin(_ topics: [Topic], at door: Door) -> Int? {
        guard batches.count < SubscribeBatches.batchesMax else { return nil }
        last += 1
        batches[last] = Batch(
            door: door, topics: topics, results: Array(repeating: nil, count: topics.count), missing: topics.count)
        return last
    }

    /// Keeps the answer for one topic; gives all of them, in the order of the request, with the last.
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

    /// The batch was refused as a whole; tells whether it was waiting.
    mutating func refused(_ number: Int) -> Bool { batches.removeValue(forKey: number) != nil }

    /// Nobody waits any more for what was asked at a door.
    mutating func ended(_ door: Door) {
        batches = batches.filter { $0.value.door != door }
    }
}
