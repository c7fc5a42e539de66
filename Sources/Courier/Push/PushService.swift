import Configuration
import Core
import Push
import Reactors
import RedisLink
import Rights
import Service

/// Sends waiting items to users' devices by APNs: the service `apns` of scripts (docs/push.md).
///
/// A call names the items that wait for one user. Each item is checked in Redis right before it is sent, and the answer
/// has the result of each. Thread: the courier's.
final class PushService: OutsideService {
    /// The results of pushes and of waiting items.
    struct Counts {
        /// Pushes by APNs's verdict: `sent`, `dead`, `again`, `refused`, `closed`.
        var pushes: [String: Int] = [:]
        /// Items that were dropped, by reason.
        var dropped: [PushDecision.Reason: Int] = [:]
        /// Items that wait for the end of quiet hours or of a session.
        var held = 0
    }

    let name = "apns"
    /// Longer than all items of one call take.
    let tryMs = 35_000
    let heldMax = 200
    private(set) var requests = 0
    private(set) var failures = 0
    private(set) var counts = Counts()
    private let parts: CourierParts
    private let sender: PushSender
    private let reader: PushReader
    private let reactor: Reactor
    private var zones = ZoneLibrary { name in
        try? Files.read(ZoneLibrary.directory + name, bytesMax: ZoneLibrary.fileBytesMax)
    }
    private var random = SystemRandomNumberGenerator()

    /// No push begins later than this before a call must end: one push may take as long.
    private static let lastMs = PushSender.tryMs + 2_000

    /// A service that sends as the key's team; `nil` when there is no key.
    init?(_ parts: CourierParts, link: any RedisCalls, reactor: Reactor) throws(Errno) {
        guard let apns = parts.apns else { return nil }
        self.parts = parts
        self.reactor = reactor
        sender = try PushSender(parts, apns, link: link, reactor: reactor)
        reader = PushReader(link, parts.keys)
    }

    /// Always `false`: calls are also taken while APNs is unavailable, and their items return to waiting, so none is
    /// given up.
    var isOpen: Bool { false }

    /// Cancels all requests in flight.
    func stop() { sender.stop() }

    /// Answers the request of a call.
    func ask(_ request: JSON.Value, deadlineMs: Int, _ completion: @escaping (Result<[UInt8], ServiceFailure>) -> Void)
    {
        guard let request = PushRequest(request) else {
            return completion(.failure(.final("the request names no pushes")))
        }
        let leftMs = max(deadlineMs - reactor.nowMs - PushService.lastMs, 0)
        let call = Call(request, untilMs: parts.clock.wallMs + leftMs, completion)
        step(call, call.run.start(nowMs: parts.clock.wallMs, closedUntilMs: sender.closedUntilMs))
    }

    /// One call in hand.
    private final class Call {
        let user: [UInt8]
        var run: PushRun
        let completion: (Result<[UInt8], ServiceFailure>) -> Void

        init(_ request: PushRequest, untilMs: Int, _ completion: @escaping (Result<[UInt8], ServiceFailure>) -> Void) {
            user = request.user
            run = PushRun(request, untilMs: untilMs)
            self.completion = completion
        }
    }

    private func step(_ call: Call, _ step: PushRun.Step) {
        switch step {
        case .read(let item):
            reader.facts(of: item, user: call.user) { [weak self] facts in
                guard let self else { return }
                let nowMs = parts.clock.wallMs
                guard let facts else { return self.step(call, call.run.failed(nowMs: nowMs)) }
                let zone = facts.zone.flatMap { zones.zone($0) } ?? .utc
                let jitter = Double.random(in: 0..<1, using: &random)
                self.step(call, call.run.read(facts, zone: zone, nowMs: nowMs, jitter: jitter))
            }
        case .send(let pushes):
            for push in pushes {
                requests += 1
                sender.send(push) { [weak self] verdict in self?.answered(call, push, verdict) }
            }
        case .finish(let answer):
            for (reason, count) in call.run.dropped { counts.dropped[reason, default: 0] += count }
            counts.held += call.run.held
            call.completion(.success(answer))
        }
    }

    private func answered(_ call: Call, _ push: PushRun.Push, _ verdict: APNsVerdict?) {
        let label = PushService.label(verdict)
        counts.pushes[label, default: 0] += 1
        if label != "sent" { failures += 1 }
        if let next = call.run.answered(push.device, verdict, nowMs: parts.clock.wallMs) { step(call, next) }
    }

    /// Every label of ``Counts/pushes``.
    static let labels = ["sent", "dead", "again", "refused", "closed", "unanswered"]

    private static func label(_ verdict: APNsVerdict?) -> String {
        switch verdict {
        case .sent: "sent"
        case .dead, .misplaced: "dead"
        case .again, .away: "again"
        case .refused: "refused"
        case .closed, .expired: "closed"
        case nil: "unanswered"
        }
    }
}

@available(*, unavailable)
extension PushService: Sendable {}
