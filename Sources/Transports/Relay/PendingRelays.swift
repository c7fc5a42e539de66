import Core

/// Pending requests of polling clients whose sessions live on other nodes; pure.
///
/// A request is answered in time, reported as held, or given up: then it is unknown whether it was processed. A held
/// request waits while its node lives and still holds it, since an answer may be lost on the way. Time is a parameter,
/// monotonic milliseconds.
struct PendingRelays<Waiter> {
    /// Limits on pending requests and their times.
    struct Bounds {
        /// Maximum pending requests.
        let requestsMax: Int
        /// Maximum bytes of the bodies that clients send.
        let bytesMax: Int
        /// Milliseconds from a request to the first message of the other node.
        let answerMs: Int
        /// Milliseconds from the last message of a node until it is asked for a sign of life.
        let quietMs: Int
        /// Milliseconds from the last message of a node until it counts as gone.
        ///
        /// Also the milliseconds between two questions whether it still holds a request.
        let silentMs: Int
    }

    /// Actions that are due.
    enum Step {
        /// Ask a node for a sign of life.
        case ask(ShardAddress)
        /// Ask a node whether it still holds these requests.
        case check(ShardAddress, [Int])
        /// No answer arrived: give the request up, and notify its node.
        case expired(number: Int, ShardAddress, Waiter)
        /// A node is gone, and its sessions with it.
        case gone(Waiter)
    }

    private struct Request {
        let home: ShardAddress
        let bytes: Int
        let waiter: Waiter
        /// Whether its node has reported that it is held.
        var isHeld = false
        /// When it is given up; for a held request, when its node is asked whether it still holds it.
        var dueMs: Int
    }

    private struct Home {
        var requests = 0
        var heardMs: Int
        var askedMs = Int.min
    }

    private let bounds: Bounds
    private var requests: [Int: Request] = [:]
    private var homes: [ShardAddress: Home] = [:]
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// Number of pending requests.
    var count: Int { requests.count }

    /// Every pending request, and the shard of its session.
    var waiting: [(number: Int, home: ShardAddress, waiter: Waiter)] {
        requests.map { ($0.key, $0.value.home, $0.value.waiter) }
    }

    /// Adds a request; false when no more may wait.
    mutating func asked(_ number: Int, of home: ShardAddress, bytes more: Int, _ waiter: Waiter, nowMs: Int) -> Bool {
        guard requests[number] == nil, requests.count < bounds.requestsMax, bytes + more <= bounds.bytesMax else {
            return false
        }
        requests[number] = Request(home: home, bytes: more, waiter: waiter, dueMs: nowMs + bounds.answerMs)
        bytes += more
        homes[home, default: Home(heardMs: nowMs)].requests += 1
        return true
    }

    /// A node has sent a message.
    mutating func heard(_ home: ShardAddress, nowMs: Int) {
        homes[home]?.heardMs = nowMs
        homes[home]?.askedMs = Int.min
    }

    /// A node has reported that it holds these requests until there is something to answer.
    mutating func held(_ numbers: [Int], by home: ShardAddress, nowMs: Int) {
        for number in numbers where requests[number]?.home == home {
            requests[number]?.isHeld = true
            requests[number]?.dueMs = nowMs + bounds.silentMs
        }
    }

    /// Takes a node's answer; `nil` when this request was not sent to it.
    mutating func answered(_ number: Int, by home: ShardAddress) -> Waiter? {
        requests[number]?.home == home ? taken(number)?.waiter : nil
    }

    /// Removes a request that could not be sent, or whose client has disconnected.
    mutating func dropped(_ number: Int) -> Waiter? { taken(number)?.waiter }

    /// Removes the requests of a node, since nothing receives messages on its channel.
    mutating func gone(_ home: ShardAddress) -> [Waiter] {
        guard homes[home] != nil else { return [] }
        return requests.filter { $0.value.home == home }.keys.sorted().compactMap { taken($0)?.waiter }
    }

    /// Returns the actions that are due.
    mutating func due(nowMs: Int) -> [Step] {
        var steps: [Step] = []
        for (home, known) in homes {
            if nowMs - known.heardMs >= bounds.silentMs, known.askedMs != Int.min {
                steps += gone(home).map { .gone($0) }
            } else if nowMs - max(known.heardMs, known.askedMs) >= bounds.quietMs {
                homes[home]?.askedMs = nowMs
                steps.append(.ask(home))
            }
        }
        var held: [ShardAddress: [Int]] = [:]
        for (number, request) in requests.filter({ nowMs >= $0.value.dueMs }) {
            if request.isHeld {
                requests[number]?.dueMs = nowMs + bounds.silentMs
                held[request.home, default: []].append(number)
            } else if let expired = taken(number) {
                steps.append(.expired(number: number, expired.home, expired.waiter))
            }
        }
        return steps + held.map { .check($0.key, $0.value) }
    }

    private mutating func taken(_ number: Int) -> Request? {
        guard let request = requests.removeValue(forKey: number) else { return nil }
        bytes -= request.bytes
        let left = (homes[request.home]?.requests ?? 1) - 1
        if left == 0 { homes[request.home] = nil } else { homes[request.home]?.requests = left }
        return request
    }
}
