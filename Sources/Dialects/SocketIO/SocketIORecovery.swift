import Core

/// Where the topics of one namespace stand for its client: the `offset` that Socket.IO's clients keep and show when they
/// come back.
///
/// Written as `TOPIC EPOCH:OFFSET` for each topic, joined by commas, and `.` for none. It is a list, because a client keeps
/// that of the last event only, and the others would lose theirs.
struct SocketIOPlaces: Equatable, Sendable {
    /// Topics of a list; of a client that has more, nothing is recovered.
    static let topicsMax = 16
    /// Topics that are asked for and not told yet; of a client that asks for more, nothing is recovered any more.
    private static let askedMax = 64

    private(set) var topics: [Topic] = []
    private var positions: [Position] = []
    /// Topics that the client asked for by a position, and has not been told that it has.
    private var asked: Set<Topic> = []
    private var isIncomplete = false

    /// No topics.
    init() {}

    /// Reads a list; `nil` when it is none, or said that there are too many.
    init?(_ text: [UInt8]) {
        guard text != [UInt8(ascii: ".")] else { return }
        for entry in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let words = entry.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, topics.count < SocketIOPlaces.topicsMax, let topic = Topic(words[0]),
                !topics.contains(topic)
            else { return nil }
            let pieces = words[1].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard pieces.count == 2, let offset = ASCII.decimal(pieces[1]),
                let position = Position(epoch: pieces[0], offset: offset)
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
            text.append(contentsOf: EventStreamPositions.text(position))
        }
        return text
    }

    /// The requests that join all of them from where they stand.
    var requests: [SubscribeRequest] {
        zip(topics, positions).map { SubscribeRequest(topic: $0, since: $1) }
    }

    /// A topic stands there now.
    mutating func set(_ topic: Topic, _ position: Position) {
        if let index = topics.firstIndex(of: topic) {
            positions[index] = position
        } else {
            topics.append(topic)
            positions.append(position)
        }
    }

    /// The client asks for topics; one that it comes back to stands where it says until it has what it missed.
    mutating func asks(_ requests: [SubscribeRequest]) {
        for request in requests where !topics.contains(request.topic) {
            guard let since = request.since else { continue }
            guard asked.count < SocketIOPlaces.askedMax else { return isIncomplete = true }
            asked.insert(request.topic)
            set(request.topic, since)
        }
    }

    /// The client is told something; whether that moves a topic.
    mutating func told(_ message: ServerMessage) -> Bool {
        let before = self
        switch message {
        case .subscribed(let topic, let position, let recovered, _):
            asked.remove(topic)
            // What was missed follows, and moves it.
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

/// Connection state recovery in one namespace: who the client was there, and where its topics stand.
///
/// The server keeps nothing of a client that has gone. What it was is proven by its `pid`; what it had is in its `offset`,
/// which is worth as much as a `subscribe` with positions, since every right is judged anew.
struct SocketIORecovery: Sendable {
    /// What a client shows that comes back.
    struct Shown: Sendable {
        let pid: [UInt8]
        let offset: [UInt8]
    }

    /// The client's name in the namespace.
    var sid: [UInt8] = []
    /// What proves it when it comes back; empty while there is nothing that could.
    var pid: [UInt8] = []
    /// Where its topics stand.
    var places = SocketIOPlaces()
    /// Topics of which it is not known yet whether the client has missed nothing that is not there.
    var waiting: Set<Topic> = []
    /// Whether one of them misses something: the client is let in anew.
    var hasFailed = false
    /// What it showed.
    var shown: Shown?
    /// The token with which it came, until it is known whether it comes back.
    var token: [UInt8]?

    private static let proofBytes = 16

    /// `SID.PROOF`.
    static func pid(_ sid: [UInt8], namespace: [UInt8], user: [UInt8]?, _ prove: ([UInt8]) -> [UInt8]) -> [UInt8] {
        // The name is last, since it alone may hold any byte.
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
        // Whatever differs, and wherever, takes as long.
        return zip(pid, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? sid : nil
    }
}
