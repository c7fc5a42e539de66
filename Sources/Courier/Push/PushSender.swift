import Configuration
import Core
import Push
import Reactors
import RedisLink
import Service

/// Sends pushes to APNs over HTTP/2, one connection for each environment.
///
/// A push has one answer. A failure that a new provider token or the other environment can cure is retried once here;
/// all others are left to the next call. Thread: the courier's.
final class PushSender {
    typealias Completion = (APNsVerdict?) -> Void

    private let apns: APNsKey
    private let tokens: ProviderTokens
    private let webs: [PushDevice.Environment: any WebClient]
    private let monotonicMs: () -> Int
    private let log: Log
    private let clock: NodeClock
    /// The time before which nothing can be sent, milliseconds since 1970; `nil` for none.
    private(set) var closedUntilMs: Int?

    /// The longest time for one push, milliseconds.
    static let tryMs = 10_000
    private static let inFlightMax = 500

    convenience init(_ parts: CourierParts, _ apns: APNsKey, link: any RedisCalls, reactor: Reactor) throws(Errno) {
        var limits = parts.webLimits(hostConnectionsMax: 1)
        limits.inFlightMax = PushSender.inFlightMax
        var engines: [PushDevice.Environment: WebEngine] = [:]
        // One address has one connection, whatever environment a device is of.
        let shared = apns.url == nil ? nil : try WebEngine(reactor, limits)
        for environment in PushDevice.Environment.allCases {
            if let shared {
                engines[environment] = shared
            } else {
                engines[environment] = try WebEngine(reactor, limits)
            }
        }
        self.init(parts, apns, link: link, webs: engines) { reactor.nowMs }
    }

    init(
        _ parts: CourierParts, _ apns: APNsKey, link: any RedisCalls, webs: [PushDevice.Environment: any WebClient],
        monotonicMs: @escaping () -> Int
    ) {
        self.apns = apns
        self.webs = webs
        self.monotonicMs = monotonicMs
        log = parts.log
        clock = parts.clock
        tokens = ProviderTokens(apns, link, parts.keys, parts.clock)
    }

    /// Cancels all requests in flight.
    func stop() {
        for web in webs.values { web.stop() }
    }

    /// Sends a push; the answer is `nil` when APNs gave none.
    func send(_ push: PushRun.Push, _ completion: @escaping Completion) {
        send(push, to: push.environment, deadlineMs: monotonicMs() + PushSender.tryMs, isAgain: false, completion)
    }

    private func send(
        _ push: PushRun.Push, to environment: PushDevice.Environment, deadlineMs: Int, isAgain: Bool,
        _ completion: @escaping Completion
    ) {
        tokens.token { [weak self] token in
            guard let self, let token, let web = webs[environment] else { return completion(nil) }
            web.send(request(push, environment, token, deadlineMs)) { [weak self] result in
                guard let self else { return }
                let verdict = PushSender.verdict(result, push.device)
                switch verdict {
                case .expired where !isAgain && tokens.replace(token):
                    send(push, to: environment, deadlineMs: deadlineMs, isAgain: true, completion)
                case .misplaced where !isAgain && apns.url == nil:
                    send(push, to: environment.other, deadlineMs: deadlineMs, isAgain: true, completion)
                default:
                    note(verdict, result)
                    completion(verdict)
                }
            }
        }
    }

    private func request(
        _ push: PushRun.Push, _ environment: PushDevice.Environment, _ token: ProviderToken, _ deadlineMs: Int
    ) -> WebRequest {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let url = apns.url ?? PushSender.hosts[environment] ?? ""
        return WebRequest(
            .post(push.payload), url + "/3/device/" + text(push.device.token),
            headers: [
                ("authorization", "bearer " + text(token.text)), ("apns-topic", apns.topic),
                ("apns-push-type", "alert"),
                ("apns-priority", push.isUrgent ? "10" : "5"), ("apns-expiration", String(push.expirationSecond)),
                ("apns-collapse-id", text(push.collapseID)), ("content-type", "application/json"),
            ],
            deadlineMs: deadlineMs)
    }

    private static let hosts: [PushDevice.Environment: String] = [
        .production: "https://api.push.apple.com", .sandbox: "https://api.sandbox.push.apple.com",
    ]

    private static func verdict(_ result: Result<WebReply, WebFailure>, _ device: PushDevice) -> APNsVerdict? {
        guard case .success(let reply) = result else { return nil }
        return APNsVerdict.of(
            status: reply.status, body: reply.body, retryAfterSeconds: reply.retryAfterSeconds,
            registeredMs: device.registeredMs)
    }

    /// Pauses all pushes while nothing can be sent, and logs faults that only the operator can correct.
    private func note(_ verdict: APNsVerdict?, _ result: Result<WebReply, WebFailure>) {
        var isFault = false
        var pauseMs = 0
        switch verdict {
        case .closed(let forMs, let fault): (pauseMs, isFault) = (forMs, fault)
        case .expired: (pauseMs, isFault) = (60_000, true)
        case .refused: isFault = true
        default: break
        }
        if pauseMs > 0 {
            let wallMs = clock.wallMs
            guard closedUntilMs.map({ $0 <= wallMs }) ?? true else { return }
            closedUntilMs = wallMs + pauseMs
        }
        guard isFault, case .success(let reply) = result else { return }
        let reason = String(decoding: reply.body.prefix(200).filter { $0 >= 0x20 && $0 < 0x7f }, as: UTF8.self)
        log.write(
            .error, pauseMs > 0 ? "apns takes nothing for now" : "apns refused a push",
            [("status", "\(reply.status)"), ("answer", reason), ("pauseMs", "\(pauseMs)")])
    }
}

@available(*, unavailable)
extension PushSender: Sendable {}
