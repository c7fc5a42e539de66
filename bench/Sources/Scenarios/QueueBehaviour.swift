import Connections
import Core
import Reactors

/// Changes the bookings of a process's shops when a change is due, and receives the updates as their subscribers do.
///
/// A shop's changes and subscribers are in one process, so that they can be matched. A change for which no shop is free
/// waits, and its latency runs from when it was due. Thread: main.
final class QueueBehaviour: ClientBehaviour {
    private let crew: ClientCrew
    /// Numbers of the shops of this process.
    private let shops: [Int]
    private var queues: [ShopQueue]
    private var ways = QueueFigures()
    private var http: HTTPDoor?
    private var redis: RedisDoor?
    private var timer: PrecisionTimer?
    private var plan: LoadPlan?
    /// The number of the next change among all of the run, and of the shop that is tried first.
    private var next = 0
    private var cursor = 0
    private var jitterUs = 0
    private var failed = false
    private var preparing: Int?

    private static let booking = "b1"
    /// Microseconds after which an unreceived change counts as missing.
    private static let patienceUs = 5_000_000
    /// Microseconds for which the worker gathers changes; changes fall at any moment of it.
    private static let gatherUs = 20_000
    private static let jsonLimits = JSON.Limits(depthMax: 64, elementsMax: 10_000)

    init(_ crew: ClientCrew) throws(BenchFailure) {
        self.crew = crew
        shops = QueueBehaviour.shops(ofProcess: crew.processIndex, of: crew.processCount, topics: crew.options.topics)
        queues = Array(repeating: ShopQueue(), count: shops.count)
        var options = crew.options
        options.publishConnections = 4
        let failed: (String) -> Void = { [unowned self] in
            crew.note($0)
            self.failed = true
        }
        let answered: (PublishJob, String?) -> Void = { [unowned self] in self.answered($0, $1) }
        http = try HTTPDoor(
            crew.context, options, request: { QueueBehaviour.request($0, apiKey: options.apiKey) }, answered: answered,
            failed: failed)
        redis = try RedisDoor(
            crew.context, options.redis, command: { QueueBehaviour.command($0) }, answered: answered, failed: failed)
        do {
            timer = try PrecisionTimer(crew.context.reactor) { [unowned self] in changeDue() }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    static func shops(ofProcess index: Int, of count: Int, topics: Int) -> [Int] {
        Array(stride(from: index, to: topics, by: count))
    }

    func topic(_ number: Int) -> String {
        crew.options.topicName(shops[(number - crew.firstNumber) % shops.count])
    }

    func upgraded(_ client: LoadClient) -> Target.Step {
        crew.options.target.upgraded(topic: topic(client.number), client.dialect)
    }

    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step {
        crew.options.target.answered(text, topic: topic(client.number), client.dialect)
    }

    // MARK: Before the load

    func tick(_ nowUs: Int) {
        prepare()
        for index in queues.indices {
            let missing = queues[index].giveUp(nowUs: nowUs, afterUs: QueueBehaviour.patienceUs)
            if missing > 0 { crew.note("changes were not heard of within \(QueueBehaviour.patienceUs / 1_000_000) s") }
        }
        changeDue()
    }

    /// Gives each shop a barber and a pending booking, once both publishers are open.
    private func prepare() {
        guard preparing == nil, !failed, let http, let redis, http.isOpen, redis.isOpen else { return }
        preparing = shops.count * 2
        for index in shops.indices {
            redis.send(PublishJob(topic: key("barbers", index), data: [], dueUs: 0, tag: index))
            redis.send(PublishJob(topic: key("bookings", index), data: booking(), dueUs: 0, tag: index))
        }
    }

    private func key(_ name: String, _ index: Int) -> String {
        crew.options.topicName(shops[index]) + "#" + name
    }

    private func booking() -> [UInt8] {
        Array(
            ("{\"userId\":\"bench\",\"tier\":\"standard\",\"status\":\"pending\",\"createdAt\":\(Clock.wallMs())}").utf8
        )
    }

    /// The command of a job for Redis: its topic is a key, its data a booking, or nothing for the barbers.
    private static func command(_ job: PublishJob) -> [[UInt8]] {
        guard !job.data.isEmpty else { return [Array("SADD".utf8), Array(job.topic.utf8), Array("bench".utf8)] }
        return [Array("HSET".utf8), Array(job.topic.utf8), Array(booking.utf8), job.data]
    }

    /// The request of a job for the gateway: its data are the command's arguments.
    private static func request(_ job: PublishJob, apiKey: String) -> [UInt8] {
        Array(
            ("POST /v1/commands/move_booking HTTP/1.1\r\nHost: bench\r\napikey: \(apiKey)\r\n"
                + "Content-Length: \(job.data.count)\r\n\r\n").utf8) + job.data
    }

    // MARK: The load

    func begins(_ plan: LoadPlan) {
        self.plan = plan
        next = crew.processIndex
        ways = QueueFigures()
        timer?.set(atUs: dueUs(plan))
    }

    /// When the next change is due: at its place in the rate, plus a random part of the gathering time.
    private func dueUs(_ plan: LoadPlan) -> Int { plan.dueUs(next) + jitterUs }

    private func changeDue() {
        guard let plan else { return }
        let nowUs = Clock.monotonicUs()
        while next < plan.count {
            guard dueUs(plan) <= nowUs else { timer?.set(atUs: dueUs(plan)); return }
            // With a change under way at each shop, due ones wait; the end of a change calls this again.
            guard begin(dueUs: dueUs(plan)) else { return }
            next += crew.processCount
            jitterUs = Int.random(in: 0..<min(QueueBehaviour.gatherUs, 1_000_000 / plan.rate + 1))
        }
    }

    /// Starts a change of the next free shop; false when none is free.
    private func begin(dueUs: Int) -> Bool {
        for step in queues.indices {
            let index = (cursor + step) % queues.count
            let subscribers = subscribers(index)
            guard let change = queues[index].begin(dueUs: dueUs, subscribers: subscribers) else { continue }
            cursor = index + 1
            let isMeasured = plan?.isMeasured(dueUs) == true
            if isMeasured {
                crew.figures.published += 1
                crew.figures.expected += subscribers.count
            }
            switch change.way {
            case .command:
                let shop = crew.options.topicName(shops[index]).drop { $0 != ":" }.dropFirst()
                let arguments =
                    "{\"shopId\":\"\(shop)\",\"bookingId\":\"\(QueueBehaviour.booking)\",\"status\":\"confirmed\"}"
                http?.send(
                    PublishJob(
                        topic: "", data: Array(arguments.utf8), dueUs: dueUs, members: subscribers.count, tag: index))
            case .redis:
                redis?.send(
                    PublishJob(
                        topic: key("bookings", index), data: booking(), dueUs: dueUs, members: subscribers.count,
                        tag: index))
            }
            return true
        }
        return false
    }

    /// The live clients of this process that have subscribed to a shop.
    private func subscribers(_ index: Int) -> Set<Int> {
        var found: Set<Int> = []
        for client in stride(from: index, to: crew.clients.count, by: shops.count)
        where crew.clients[client].stage == .live {
            found.insert(client)
        }
        return found
    }

    private func answered(_ job: PublishJob, _ refusal: String?) {
        if let refusal { crew.note("a change was refused: \(refusal)") }
        guard job.members != nil else {
            if refusal != nil { failed = true }
            preparing = preparing.map { $0 - 1 }
            if preparing == 0, !failed { crew.said.append(QueueBehaviour.ready) }
            return
        }
        let none = queues[job.tag].answered(isRefused: refusal != nil)
        if refusal != nil, plan?.isMeasured(job.dueUs) == true {
            crew.figures.refused += 1
            crew.figures.expected -= none
        }
        changeDue()
    }

    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int) {
        guard let frame = FrameScanner(text), frame.isNamed("queue:update", text), let range = frame.payload,
            let data = try? JSON(
                parsing: LoadClient.copy(text.extracting(range), range.count),
                limits: QueueBehaviour.jsonLimits),
            let length = data.root["queueLength"]?.int
        else { return }
        let (local, index) = (client.number - crew.firstNumber, (client.number - crew.firstNumber) % shops.count)
        guard let (change, isLast) = queues[index].heard(local, length: length) else { return }
        if plan?.isMeasured(change.dueUs) == true {
            crew.figures.delivered += 1
            crew.figures.latency.add(nowUs - change.dueUs)
            ways.add(change.way, nowUs - change.dueUs)
            if isLast { crew.figures.acknowledged += 1 }
        }
        changeDue()
    }

    func told(_ text: String) {
        guard text == QueueBehaviour.report else { return }
        if let line = try? JSONLine.encode(ways) { crew.said.append(String(decoding: line.dropLast(), as: UTF8.self)) }
    }

    /// The process's text when its shops exist, and the question at the end.
    static let ready = "ready"
    static let report = "report"

    var isDone: Bool {
        guard let plan else { return failed || preparing == 0 }
        return next >= plan.count && queues.allSatisfy { $0.change == nil }
    }
}

/// Latencies by the way in which the change was made.
struct QueueFigures: Codable {
    private(set) var command = LatencyHistogram()
    private(set) var redis = LatencyHistogram()

    mutating func add(_ way: ShopQueue.Way, _ latencyUs: Int) {
        switch way {
        case .command: command.add(latencyUs)
        case .redis: redis.add(latencyUs)
        }
    }

    mutating func merge(_ other: QueueFigures) {
        command.merge(other.command)
        redis.merge(other.redis)
    }
}
