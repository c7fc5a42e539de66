import Core
import Dialects
import TestSupport

@testable import Topics

/// Redis as the model has it: a topic's log and position, its channel, and whoever else may publish there.
extension TopicWorld {
    func publish() {
        fence(top)
        offset += 1
        let message = ChannelMessage(position: TopicWorld.position(epoch, offset), event: event, id: nil, data: [])
        log.append(message)
        if log.count > logMax { log.removeFirst() }
        note("publish \(epoch):\(offset)\(isSubscribed ? "" : " to nobody")")
        if isSubscribed { channel.append(.event(message)) }
    }

    func flush() {
        endings.append(offset)
        epoch += 1
        offset = 0
        log = []
        note("flush; epoch \(epoch)")
    }

    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        note("ask \(order) since \(since.map { "\(TopicWorld.epoch(of: $0)):\($0.offset)" } ?? "-")")
        if !isResting, Int.random(in: 0..<12, using: &random) == 0 {
            // A link that is down, or full, refuses before the call returns.
            note("refused at once")
            return completion(.failure(Refusal(.unavailable, "")))
        }
        requests.append(Request(order: order, since: since, top: top, completion: completion))
    }

    /// Data goes back to an earlier moment of the same run, behind what the shard knows of; the links are cut by it.
    func rollBack() {
        guard let top, TopicWorld.epoch(of: top) == epoch, top.offset > 0 else { return }
        lose(keepsSubscription: false, keepsMessages: false)
        // What was forged may have let the shard believe in more than there was.
        offset = Int.random(in: 0..<min(top.offset, max(offset, 1)), using: &random)
        log.removeAll { ($0.position?.offset ?? 0) > offset }
        note("roll back to \(epoch):\(offset)")
    }

    /// The last event that the shard was told of.
    var top: Position? {
        guard let delivered = table.position(topic) else { return told }
        guard let told, told.epoch == delivered.epoch, told.offset > delivered.offset else { return delivered }
        return told
    }

    /// Rule 1 of the fence: whoever knows more than Redis begins a new epoch.
    func fence(_ top: Position?) {
        if let top, TopicWorld.epoch(of: top) == epoch, top.offset > offset { flush() }
    }

    /// Redis runs the oldest request that it has not run.
    func execute() {
        guard let index = requests.firstIndex(where: { $0.answer == nil }) else { return }
        let request = requests[index]
        fence(request.top)
        guard let position = TopicWorld.position(epoch, offset) else { return }
        var answer = LogRead.Answer(position: position, events: [], state: nil)
        if let since = request.since, since.epoch == position.epoch, since.offset <= offset {
            let missed = log.filter { ($0.position?.offset ?? 0) > since.offset }
            let newest = request.order == .newest
            answer.events = Array(newest ? missed.suffix(TopicWorld.readMax) : missed.prefix(TopicWorld.readMax))
        }
        if strikes(.readIsShort), !answer.events.isEmpty {
            // Of the newest the first is left out, and it is pretended that it is not missing.
            let first = answer.events.removeFirst().position
            if request.order == .newest, let first { answer.position = first }
        }
        if strikes(.positionIsAhead), let ahead = TopicWorld.position(epoch, offset + 1) {
            answer = LogRead.Answer(position: ahead, events: [], state: nil)
        }
        if fault == .nothingIsRepaired, request.order == .oldest, let since = request.since {
            answer = LogRead.Answer(position: since, events: [], state: nil)
        }
        note("run \(epoch):\(offset) \(answer.events.count)")
        requests[index].answer = answer
    }

    /// The oldest reply arrives, or fails on the way.
    func reply(failing: Bool = false) {
        guard let request = requests.first, let answer = request.answer else { return }
        requests.removeFirst()
        if strikes(.replyIsLost) { return }
        note("reply \(failing ? "failed" : "")")
        if !failing, told?.epoch != answer.position.epoch || (told?.offset ?? 0) < answer.position.offset {
            told = answer.position
        }
        request.completion(failing ? .failure(Refusal(.unavailable, "")) : .success(answer))
    }

    // MARK: Hostile positions

    /// Somebody publishes on the channel what no script has written.
    ///
    /// What names the very next event cannot be told from that event, so it may be believed; the next publish finds out
    /// and begins another epoch. Nothing else may ever be seen by a client.
    func forge() {
        guard isSubscribed else { return }
        var (forgedEpoch, forgedOffset) = (epoch, offset)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: forgedOffset = Int.max
        case 1: forgedOffset = TopicWorld.farOffset + Int.random(in: 0..<3, using: &random)
        case 2: (forgedEpoch, forgedOffset) = (TopicWorld.foreignEpoch, Int.random(in: 0...3, using: &random))
        case 3: (forgedEpoch, forgedOffset) = (max(epoch - 1, 0), TopicWorld.farOffset)
        case 4: forgedOffset = Int.random(in: 0...offset, using: &random)
        default:
            forgedOffset = offset + Int.random(in: 1...3, using: &random)
            // The next event tells what became of it.
            hasDropped = true
        }
        let isRepeated = Bool.random(using: &random)
        for _ in 0..<(isRepeated ? TopicWorld.limits.heldEventsMax + 2 : 1) {
            let position = TopicWorld.position(forgedEpoch, forgedOffset)
            note("forge \(forgedEpoch):\(forgedOffset)")
            channel.append(.event(ChannelMessage(position: position, event: event, id: nil, data: [])))
        }
    }

    /// Whether no event of the model can have that position.
    static func isForeign(_ position: Position) -> Bool {
        position.offset >= farOffset || epoch(of: position) == foreignEpoch
    }

    /// Beyond what any history publishes.
    private static let farOffset = 1_000_000
    /// An epoch that never begins.
    private static let foreignEpoch = 675
}
