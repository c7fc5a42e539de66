import Core

/// Requests of polling clients whose sessions live on other nodes, from the question to the answer; pure.
///
/// A request is answered in time, or is known to be held, or is given up: then nobody knows whether it was taken. What
/// is held waits as long as its node shows signs of life and still holds it: an answer may be lost on the way. Time is
/// a parameter, monotonic milliseconds.
struct HopBook<Waiter> {
    /// What may wait, and how long.
    struct Bounds {
        /// Requests.
        let requestsMax: Int
        /// Bytes of what clients send.
        let bytesMax: Int
        /// From a request to the first word of the other node.
        let answerMs: Int
        /// From the last word of a node to the question whether it lives.
        let quietMs: Int
        /// From the last word of a node to its end, and between two questions whether it still holds a request.
        let silentMs: Int
    }

    /// What is to be done.
    enum Step {
        /// Ask a node for a sign of life.
        case ask(HopHome)
        /// Ask a node whether it still holds these.
        case check(HopHome, [Int])
        /// No word came: give the request up, and tell its node.
        case expired(number: Int, HopHome, Waiter)
        /// A node is gone, and its sessions with it.
        case gone(Waiter)
    }

    private struct Request {
        let home: HopHome
        let bytes: Int
        let waiter: Waiter
        /// Whether it is known to be held.
        var isHeld = false
        /// When it is given up; of one that is held, when its node is asked whether it still is.
        var dueMs: Int
    }

    private struct Home {
        var requests = 0
        var heardMs: Int
        var askedMs = Int.min
    }

    private let bounds: Bounds
    private var requests: [Int: Request] = [:]
    private var homes: [HopHome: Home] = [:]
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// Requests that wait.
    var count: Int { requests.count }

    /// Every request that waits, and the shard of its session.
    var waiting: [(number: Int, home: HopHome, waiter: Waiter)] {
        requests.map { ($0.key, $0.value.home, $0.value.waiter) }
    }

    /// Notes a request; false when no more may wait.
    mutating func asked(_ number: Int, of home: HopHome, bytes more: Int, _ waiter: Waiter, nowMs: Int) -> Bool {
        guard requests[number] == nil, requests.count < bounds.requestsMax, bytes + more <= bounds.bytesMax else {
            return false
        }
        requests[number] = Request(home: home, bytes: more, waiter: waiter, dueMs: nowMs + bounds.answerMs)
        bytes += more
        homes[home, default: Home(heardMs: nowMs)].requests += 1
        return true
    }

    /// A node has said something.
    mutating func heard(_ home: HopHome, nowMs: Int) {
        homes[home]?.heardMs = nowMs
        homes[home]?.askedMs = Int.min
    }

    /// A node holds these requests until something is to be said.
    mutating func held(_ numbers: [Int], by home: HopHome, nowMs: Int) {
        for number in numbers where requests[number]?.home == home {
            requests[number]?.isHeld = true
            requests[number]?.dueMs = nowMs + bounds.silentMs
        }
    }

    /// A node has answered; `nil` for what nobody asked of it.
    mutating func answered(_ number: Int, by home: HopHome) -> Waiter? {
        requests[number]?.home == home ? taken(number)?.waiter : nil
    }

    /// The question could not be asked, or whoever waited has gone.
    mutating func dropped(_ number: Int) -> Waiter? { taken(number)?.waiter }

    /// Nobody hears what is said to a node.
    mutating func gone(_ home: HopHome) -> [Waiter] {
        guard homes[home] != nil else { return [] }
        return requests.filter { $0.value.home == home }.keys.sorted().compactMap { taken($0)?.waiter }
    }

    /// Tells what the time has brought.
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
        var held: [HopHome: [Int]] = [:]
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
