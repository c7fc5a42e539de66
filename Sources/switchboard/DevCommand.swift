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

    init(_ settings: DevSettings) {
        var settings = settings
        // A developer's clients need no time to drain.
        settings.gateway.limits.drainMs = min(settings.gateway.limits.drainMs, 500)
        settings.gateway.limits.drainGraceMs = 0
        self.settings = settings
    }

    /// Runs until Ctrl-C.
    func run() throws(StartProblem) -> Int32 {
        try ProcessSetUp.run()
        let state = settings.state
        try prepare(state)
        let gateway = try reachingRedis(settings.gateway, state)
        let lock = try lockState(state)
        defer { _ = lock }
        let redis = try PrivateRedis(program: settings.redisServer, state: state)
        defer { redis.stop() }
        let log = try Log.make(gateway.log, gateway.logLevel, linesMax: gateway.limits.logLinesMax)
        defer { log.close() }
        log.started(.gateway)
        let program = CourierProgram.path
        let phones = program.map { _ in DemoPhones() }
        let site = try DemoSite(gateway, apiKey: try StartFile.read(state.apiKey, bytesMax: 4_096), phones: phones)
        let node = try GatewayNode(gateway, extraRoutes: site.routes, log: log)
        let worker = try WorkerNode.start(WorkerSettings(beside: gateway), log: log)
        defer { worker.stop() }
        let courier = try startCourier(program, phones, beside: gateway)
        defer { courier?.stop() }
        if courier == nil {
            log.write(.warn, "switchboard-courier is not beside this program: no search, no pushes", [])
        }
        let demo = settings.demo ? try DemoShop.start(gateway, log: log) : nil
        defer { demo?.stop() }
        let origin = "https://" + (node.addresses.tls?.description ?? "")
        let ready = { () throws(StartProblem) in
            try GatewayCommand.writeReadyFile(state.ready, node)
            try GatewayCommand.writeReadyFile(gateway.readyFile, node)
        }
        return try GatewayCommand.serve(node, gateway, onListening: ready, onReady: { greet(origin) })
    }

    private func startCourier(
        _ program: String?, _ phones: DemoPhones?, beside gateway: GatewaySettings
    ) throws(StartProblem) -> DevCourier? {
        guard let program, let phones else { return nil }
        return try DevCourier(program: program, beside: gateway, phones: phones, state: settings.state)
    }

    private func greet(_ origin: String) {
        Terminal.print(
            """

              Switchboard is running: \(origin)/   (Ctrl-C stops it)

              The certificate is its own: a browser asks once. Publish something:
                curl -k \(origin)/v1/broadcast -H "apikey: $(cat \(settings.state.apiKey))" \\
                  -d '{"topic":"shop:demo","event":"hello","data":{"from":"curl"}}'

            """)
    }

    // MARK: State

    /// The gateway's settings with the private Redis: a URL needs the socket's absolute path, percent-encoded.
    private func reachingRedis(_ settings: GatewaySettings, _ state: StateDirectory) throws(StartProblem)
        -> GatewaySettings
    {
        guard let absolute = Files.absolute(state.path) else {
            throw StartProblem("\(state.path) cannot be found")
        }
        var url = "unix://"
        for byte in (absolute + "/redis.sock").utf8 {
            let isPlain =
                ASCII.isLetter(byte) || ASCII.isDigit(byte)
                || [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
            url +=
                isPlain
                ? String(UnicodeScalar(byte)) : "%" + String(byte / 16, radix: 16) + String(byte % 16, radix: 16)
        }
        var settings = settings
        settings.redis = url
        return settings
    }

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
        if !Files.exists(state.jwtSecret) {
            try StartFile.write(SecureRandom.text(byteCount: 48) + [0x0a], to: state.jwtSecret, isSecret: true)
        }
        if !Files.exists(state.apiKey) || !Files.exists(state.apiKeys) {
            let key = SecureRandom.text(byteCount: 32)
            try StartFile.write(key, to: state.apiKey, isSecret: true)
            try StartFile.write(Array("dev:".utf8) + key + [0x0a], to: state.apiKeys, isSecret: true)
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
