import CLinux
import Configuration
import Connections
import Core
import Demo
import Gateway
import Glibc
import Operations
import Reactors
import Rights
import Service
import Worker

/// `switchboard dev`: everything on one machine without configuration.
///
/// A private Redis, a self-signed certificate, a gateway, and demo traffic; state is kept in one directory between
/// runs.
struct DevCommand {
    private let settings: DevSettings
    /// Reads the command line and its files again.
    private let reread: () -> CommandLineResult

    init(_ settings: DevSettings, reread: @escaping () -> CommandLineResult) {
        self.settings = settings
        self.reread = reread
    }

    /// Runs until Ctrl-C.
    func run() throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let state = settings.state
        try prepare(state)
        let lock = try lockState(state)
        defer { _ = lock }
        if settings.isFresh { Files.removeTree(state.data) }
        let redis = try PrivateRedis(program: settings.redisServer, in: state.path, .kept(state.data))
        defer { redis.stop() }
        var settings = settings
        settings.gateway.redis = redis.url
        let gateway = settings.gateway
        try StartFile.write([], to: state.log, isSecret: true)
        let log = try Log.make(
            gateway.log, gateway.logLevel, linesMax: gateway.limits.logLinesMax, path: state.log, tellsErrors: true)
        defer { log.close() }
        log.started(.gateway)
        let program = CourierProgram.path
        let phones = program.map { _ in DemoPhones() }
        let people = settings.demo && settings.people ? DemoPeople() : nil
        let site = try DemoSite(
            gateway, apiKey: try StartFile.read(state.apiKey, bytesMax: 4_096), phones: phones, people: people)
        var scripts = try DevScripts(settings, reread: reread)
        let courier = try startCourier(program, phones, settings)
        defer { courier?.stop() }
        let demo = settings.demo ? try DemoShop.start(gateway, people: people, log: log) : nil
        defer { demo?.stop() }
        var greeting: String?
        while true {
            let reading = Box<DevScripts.Reading>()
            let code = try serve(settings, site, people, log, greeting) {
                guard redis.isRunning else { return true }
                reading.value = scripts?.look(url: redis.url, log: log)
                return reading.value != nil
            } greet: { origin in
                greet(origin, scripts?.text, hasCourier: courier != nil)
            }
            guard redis.isRunning else { throw StartProblem("Redis has ended." + redis.reason) }
            guard code == nil, let next = reading.value else { return code ?? 0 }
            greeting = next.text
            settings = next.settings
            settings.gateway.listen = HostPort(host: "127.0.0.1", port: lastPort(state) ?? settings.port)
        }
    }

    /// Holds a value that a closure finds.
    private final class Box<Value> {
        var value: Value?
    }

    /// Runs one gateway and one worker: until a signal, or until `isDone`; then the result is `nil`.
    private func serve(
        _ settings: DevSettings, _ site: DemoSite, _ people: DemoPeople?, _ log: Log, _ greeting: String?,
        isDone: () -> Bool, greet: (String) -> Void
    ) throws(StartProblem) -> Int32? {
        let gateway = settings.gateway
        let node = try GatewayNode(gateway, extraRoutes: site.routes, log: log)
        let worker = try WorkerNode.start(WorkerSettings(beside: gateway), log: log)
        defer { worker.stop() }
        let town = try startPeople(people, gateway, node, log)
        defer { town?.stop() }
        let origin = "https://" + (node.addresses.tls?.description ?? "")
        let ready = { () throws(StartProblem) in
            try GatewayCommand.writeReadyFile(settings.state.ready, node)
            try GatewayCommand.writeReadyFile(gateway.readyFile, node)
        }
        return try GatewayCommand.serve(
            node, gateway, onListening: ready,
            onReady: { if let greeting { Terminal.print(greeting) } else { greet(origin) } },
            lookMs: DevScripts.everyMs, isDone: isDone)
    }

    /// The port of the gateway that has just ended, which the next one takes: port 0 would be another one.
    private func lastPort(_ state: StateDirectory) -> UInt16? {
        guard let bytes = try? Files.read(state.ready, bytesMax: 65_536),
            let json = try? JSON(parsing: bytes, limits: JSON.Limits(depthMax: 4, elementsMax: 64)),
            let first = json.root["tls"].flatMap({ Array($0.members).first })
        else { return nil }
        return first["port"]?.int.flatMap { UInt16(exactly: $0) }
    }

    private func startCourier(
        _ program: String?, _ phones: DemoPhones?, _ settings: DevSettings
    ) throws(StartProblem) -> DevCourier? {
        guard let program, let phones else { return nil }
        return try DevCourier(program: program, settings, phones: phones)
    }

    private func startPeople(
        _ people: DemoPeople?, _ gateway: GatewaySettings, _ node: GatewayNode, _ log: Log
    ) throws(StartProblem) -> NodeThread? {
        guard let people, let address = node.addresses.tls else { return nil }
        return try people.start(gateway, at: address, log: log)
    }

    private func greet(_ origin: String, _ scripts: String?, hasCourier: Bool) {
        let state = settings.state
        var rows = [
            ("page", "\(origin)/  (its certificate is its own: a browser asks once)"),
            ("inspector", "\(origin)/#inspector  (signs in by itself; the API key is in \(state.apiKey))"),
            ("redis", "unix://\(Files.absolute(state.redisSocket) ?? state.redisSocket)"),
        ]
        if let scripts { rows.append(("scripts", scripts)) }
        for hook in settings.webhooks {
            let notes = "signed with \(hook.secretFile); failures are in \(state.courierLog)"
            rows.append(("webhook", "\(hook.url)  (\(notes))"))
        }
        if !hasCourier {
            rows.append(("courier", "none: switchboard-courier is not beside this program, so no pushes and webhooks"))
        }
        rows.append(("log", state.log))
        let lines = rows.map { "  " + $0.0 + String(repeating: " ", count: 11 - $0.0.count) + $0.1 }
        Terminal.print((["Switchboard is running; Ctrl-C stops it."] + lines).joined(separator: "\n"))
    }

    // MARK: State

    /// Makes missing files: directory, certificate, key for pushes, JWT secret, API key.
    ///
    /// A certificate that has expired is replaced.
    private func prepare(_ state: StateDirectory) throws(StartProblem) {
        do {
            try Files.makeDirectory(state.path)
        } catch {
            throw StartProblem.file(state.path, error)
        }
        let files = TLSContext.ServerFiles(certificate: state.certificate, key: state.privateKey, ticketSecret: [])
        if (try? TLSContext(server: files)) == nil {
            let made = try keyPair()
            try StartFile.write(made.key, to: state.privateKey, isSecret: true)
            try StartFile.write(made.certificate, to: state.certificate, isSecret: false)
        }
        if !Files.exists(state.apnsKey) {
            // Apple's keys are of the same kind, and in the same form.
            try StartFile.write(try keyPair().key, to: state.apnsKey, isSecret: true)
        }
        if !Files.exists(state.webhookSecret) {
            let secret = Array("whsec_".utf8) + Array(Base64.encode(SecureRandom.bytes(32), .standard)) + [0x0a]
            try StartFile.write(secret, to: state.webhookSecret, isSecret: true)
        }
        if !Files.exists(state.jwtSecret) {
            try StartFile.write(SecureRandom.text(byteCount: 48) + [0x0a], to: state.jwtSecret, isSecret: true)
        }
        if !Files.exists(state.apiKey) || !Files.exists(state.apiKeys) {
            let key = SecureRandom.text(byteCount: 32)
            try StartFile.write(key, to: state.apiKey, isSecret: true)
            // `tap` is for the inspector's page about the wire of a session; no key has it unless it is written.
            let line = Array("dev:".utf8) + key + Array(":read,write,tap\n".utf8)
            try StartFile.write(line, to: state.apiKeys, isSecret: true)
        }
    }

    private func keyPair() throws(StartProblem) -> (certificate: [UInt8], key: [UInt8]) {
        do {
            return try SelfSignedCertificate.make(days: 365)
        } catch {
            throw StartProblem(error.description)
        }
    }

    /// Locks the directory: two gateways of one directory would share a Redis socket, so the second one fails.
    private func lockState(_ state: StateDirectory) throws(StartProblem) -> FileDescriptor {
        do {
            let path = state.path + "/lock"
            let raw = try retrying { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
            let descriptor = FileDescriptor(owning: raw)
            _ = try retrying { flock(raw, LOCK_EX | LOCK_NB) }
            return descriptor
        } catch {
            throw StartProblem("another 'switchboard dev' uses \(state.path); give this one --state DIR")
        }
    }
}
