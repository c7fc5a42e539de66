import Core

/// The positions of a client's topics in one namespace: the `offset` that Socket.IO clients store and present again.
///
/// Written as `TOPIC EPOCH:OFFSET` for each topic, joined by commas, and `.` for none. It is a list, because a client
/// stores only the `offset` of the last event; the other topics would lose theirs.
struct SocketIOPlaces: Equatable, Sendable {
    /// The most topics of a list; a client with more recovers nothing.
    static let topicsMax = 16
    /// The most topics with an unanswered request; a client with more recovers nothing from then on.
    private static let askedMax = 64

    private(set) var topics: [Topic] = []
    private var positions: [Position] = []
    /// Topics that the client asked for with a position, and whose join is not answered yet.
    private var asked: Set<Topic> = []
    private var isIncomplete = false

    /// No topics.
    init() {}

    /// Reads a list; `nil` when it is malformed, or stands for too many topics.
    init?(_ text: [UInt8]) {
        guard text != [UInt8(ascii: ".")] else { return }
        for entry in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let words = entry.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, topics.count < SocketIOPlaces.topicsMax, let topic = Topic(words[0]),
                !topics.contains(topic), let position = Position(words[1])
            else { return nil }
            topics.append(topic)
            positions.append(position)
        }
    }

    /// The list; `-` when it would be too long.
    var text: [UInt8] {
        guard !topics.isEmpty else { return [UInt8(ascii: ".")] }
        guard topics.count <= SocketIOPlaces.topicsMax, !isIncomplete else { return [UInt8(ascii: "-")] }
        var text: [UInt8] = []
        text.reserveCapacity(topics.count * 48)
        for (topic, position) in zip(topics, positions) {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(contentsOf: topic.bytes)
            text.append(UInt8(ascii: " "))
            text.append(contentsOf: position.text)
        }
        return text
    }

    /// The requests that join all of them from their positions.
    var requests: [SubscribeRequest] {
        zip(topics, positions).map { SubscribeRequest(topic: $0, since: $1) }
    }

    /// Sets the position of a topic.
    mutating func set(_ topic: Topic, _ position: Position) {
        if let index = topics.firstIndex(of: topic) {
            positions[index] = position
        } else {
            topics.append(topic)
            positions.append(position)
        }
    }

    /// The client asks for topics; a topic with `since` has that position until its missed events were sent.
    mutating func asks(_ requests: [SubscribeRequest]) {
        for request in requests where !topics.contains(request.topic) {
            guard let since = request.since else { continue }
            guard asked.count < SocketIOPlaces.askedMax else { return isIncomplete = true }
            asked.insert(request.topic)
            set(request.topic, since)
        }
    }

    /// A message was sent to the client; returns whether it changed a topic's position.
    mutating func sent(_ message: ServerMessage) -> Bool {
        let before = self
        switch message {
        case .subscribed(let topic, let position, let recovered, _):
            asked.remove(topic)
            // The missed events follow, and move it.
            if !recovered { set(topic, position) }
        case .gap(let topic, let position?, _):
            set(topic, position)
        case .unsubscribed(let topic):
            remove(topic)
        case .error(_, _, let topic?, _):
            if asked.remove(topic) != nil { remove(topic) }
        default: break
        }
        return topics != before.topics || positions != before.positions
    }

    private mutating func remove(_ topic: Topic) {
        asked.remove(topic)
        guard let index = topics.firstIndex(of: topic) else { return }
        topics.remove(at: index)
        positions.remove(at: index)
    }
}

/// Connection state recovery in one namespace: the client's identity there, and the positions of its topics.
///
/// The server stores nothing of a client that has disconnected. The `pid` proves the client's former `sid`; its
/// `offset` lists its topics. The list grants no more than a `subscribe` with positions, since every right is checked
/// again.
struct SocketIORecovery: Sendable {
    /// The values that a client presents to recover.
    struct Shown: Sendable {
        let pid: [UInt8]
        let offset: [UInt8]
    }

    /// The client's session id in the namespace.
    var sid: [UInt8] = []
    /// The proof of the session id for a later recovery; empty while no proof can be made.
    var pid: [UInt8] = []
    /// The positions of its topics.
    var places = SocketIOPlaces()
    /// Topics whose recovery is not confirmed yet.
    var waiting: Set<Topic> = []
    /// Whether one of them misses events: the client is restarted.
    var hasFailed = false
    /// The values that it presented; `nil` for a new client.
    var shown: Shown?
    /// The token that it presented, until it is known whether it recovers.
    var token: [UInt8]?

    private static let proofBytes = 16

    /// `SID.PROOF`.
    static func pid(_ sid: [UInt8], namespace: [UInt8], user: [UInt8]?, _ prove: ([UInt8]) -> [UInt8]) -> [UInt8] {
        // The user is last, since it alone may contain any byte.
        var text = sid + [UInt8(ascii: " ")] + namespace + [UInt8(ascii: user == nil ? "-" : "+")]
        text.append(contentsOf: user ?? [])
        let proof = prove(text)
        return proof.isEmpty ? [] : sid + [UInt8(ascii: ".")] + proof.prefix(proofBytes)
    }

    /// The `sid` of a `pid` that belongs to this user in this namespace; `nil` for any other.
    static func sid(
        of pid: [UInt8], namespace: [UInt8], user: [UInt8]?, _ prove: ([UInt8]) -> [UInt8]
    ) -> [UInt8]? {
        guard let dot = pid.firstIndex(of: UInt8(ascii: ".")), (1...64).contains(dot),
            pid[..<dot].allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == 0x5f })
        else { return nil }
        let sid = Array(pid[..<dot])
        let expected = SocketIORecovery.pid(sid, namespace: namespace, user: user, prove)
        guard !expected.isEmpty, pid.count == expected.count else { return nil }
        // Constant time: the number and place of different bytes do not matter.
        return zip(pid, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? sid : nil
    }
}
