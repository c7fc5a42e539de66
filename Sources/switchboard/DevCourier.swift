import Configuration
import Connections
import Core
import Demo
import Gateway
import Reactors
import Service
import Synchronization

/// A courier for `dev`, with local stand-ins for Spotify and APNs: nothing leaves this machine.
final class DevCourier: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let standIn = Guarded<Reactors.Thread?>(nil)
    private let child: ChildProcess

    /// The courier's credentials at the stand-in for APNs.
    private static let apns = (keyID: "DEV0000001", team: "DEV0000000", topic: "dev.switchboard")

    /// Starts both beside a gateway, whose pages show the phones; its output goes to `courier.log` in the state
    /// directory.
    init(program: String, _ settings: DevSettings, phones: DemoPhones) throws(StartProblem) {
        let (gateway, state) = (settings.gateway, settings.state)
        let operationsListener = try OperationsListener(HostPort(host: "127.0.0.1", port: 0))
        let limits = gateway.limits
        do {
            wake = try Wake()
        } catch {
            throw StartProblem("cannot start the stand-ins of services: \(error)")
        }
        let path = state.path + "/courier.json"
        var text: [UInt8] = Array("{\"redis\":".utf8)
        text.append(jsonString: gateway.redis)
        text.append(
            text: ",\"services\":{\"spotify\":{\"url\":\"http://\(operationsListener.address)\",\"token-url\":null}}"
        )
        DevCourier.append(settings.webhooks, to: &text)
        text.append(text: "}\n")
        try StartFile.write(text, to: path, isSecret: true)
        var words = [
            program, "--config", path, "--redis-layout", gateway.redisLayout.rawValue, "--apns-key-file", state.apnsKey,
            "--apns-key-id", DevCourier.apns.keyID, "--apns-team", DevCourier.apns.team,
            "--apns-topic", DevCourier.apns.topic, "--apns-url", "http://\(operationsListener.address)",
        ]
        if let authorities = settings.authorities { words += ["--outside-ca", authorities] }
        if !gateway.redisPrefix.isEmpty { words += ["--redis-prefix", gateway.redisPrefix] }
        child = try ChildProcess(words, logPath: state.courierLog)
        do {
            let thread = try Reactors.Thread.start("stand-ins") { [self] in run(operationsListener, limits, phones) }
            standIn.withLock { $0 = thread }
        } catch {
            child.stop()
            throw StartProblem("cannot start the stand-ins of services: \(error)")
        }
    }

    /// Appends the receivers as the member `webhooks` of a config file.
    private static func append(_ webhooks: [WebhookSettings], to text: inout [UInt8]) {
        guard !webhooks.isEmpty else { return }
        func append(list: [String]) {
            text.append(UInt8(ascii: "["))
            for (index, item) in list.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text.append(jsonString: item)
            }
            text.append(UInt8(ascii: "]"))
        }
        text.append(text: ",\"webhooks\":{")
        for (index, hook) in webhooks.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(jsonString: hook.name)
            text.append(text: ":{\"url\":")
            text.append(jsonString: hook.url)
            text.append(text: ",\"secret-file\":")
            text.append(jsonString: hook.secretFile)
            text.append(text: ",\"topics\":")
            append(list: hook.topics)
            if !hook.events.isEmpty {
                text.append(text: ",\"events\":")
                append(list: hook.events)
            }
            text.append(text: ",\"give-up-seconds\":\(hook.giveUpSeconds)}")
        }
        text.append(text: "}")
    }

    private func run(_ operationsListener: OperationsListener, _ limits: Limits, _ phones: DemoPhones) {
        guard let reactor = try? Reactor(wake: wake) else { return }
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
        let listener = try? operationsListener.open(context, limits: limits) {
            DemoStandIns.peer(reactor: reactor, limits: limits, phones: phones)
        }
        reactor.onMailbox = { [self] in
            if isStopping.load(ordering: .acquiring) { reactor.stop() }
        }
        withExtendedLifetime(listener) { reactor.run() }
        listener?.close()
    }

    /// Ends both.
    func stop() {
        child.stop()
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        standIn.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
