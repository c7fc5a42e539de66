import Configuration
import Core
import Reactors
import RedisLink
import Rights
import Service

/// Everything a courier is made of that can be wrong, and what its parts share.
///
/// Immutable.
struct CourierParts: Sendable {
    /// A random name, to tell couriers apart in Redis and logs.
    let name = SecureRandom.text(byteCount: 9)
    let redis: RedisTarget
    let keys: Keys
    let limits: Limits
    let scripts: CourierScripts
    /// PEM file of authorities, and the proxy, for everything outside.
    let authorities: String?
    let proxy: String?
    /// The services with their secrets, and the receivers with theirs.
    let services: [(settings: ServiceSettings, secret: [UInt8])]
    let receivers: [(settings: WebhookSettings, signer: WebhookSigner)]
    /// Who the courier is to APNs; `nil`: no pushes are sent.
    let apns: APNsKey?
    /// The listener of operations; `nil` for none.
    let door: OperationsDoor?
    let log: Log
    /// Whether it only sees whether it could work: it carries nothing and writes nothing.
    let onlyLooks: Bool

    /// The most bytes of a file of secrets.
    private static let secretBytesMax = 4_096

    init(_ settings: CourierSettings, log: Log) throws(StartProblem) {
        apns = try APNsKey(settings)
        guard !settings.services.isEmpty || !settings.webhooks.isEmpty || apns != nil else {
            throw StartProblem(
                "nothing to do: the config file names neither services nor webhooks, and there is no --apns-key-file "
                    + "(docs/courier.md)")
        }
        var redis = try RedisTarget.reading(settings.redis, limits: settings.limits)
        redis.layout = LayoutGuard(settings.keys)
        redis.layout?.marks = !settings.checksOnly
        self.redis = redis
        keys = settings.keys
        limits = settings.limits
        scripts = try CourierScripts()
        (authorities, proxy) = (settings.authorities, settings.proxy)
        if let path = settings.authorities { _ = try CourierParts.text(path, bytesMax: 4 << 20) }
        var services: [(settings: ServiceSettings, secret: [UInt8])] = []
        for service in settings.services {
            let secret = try service.secretFile.map { (path) throws(StartProblem) in try CourierParts.secret(path) }
            services.append((service, secret ?? []))
        }
        self.services = services
        var receivers: [(settings: WebhookSettings, signer: WebhookSigner)] = []
        for hook in settings.webhooks {
            let text = try CourierParts.text(hook.secretFile, bytesMax: CourierParts.secretBytesMax)
            do {
                receivers.append((hook, try WebhookSigner(file: text)))
            } catch {
                throw StartProblem("\(hook.secretFile): \(error.reason)")
            }
        }
        self.receivers = receivers
        // Somebody who looks may do so beside a courier of the same settings.
        let ops = settings.checksOnly ? nil : settings.ops
        door = try ops.map { (address) throws(StartProblem) in try OperationsDoor(address) }
        self.log = log
        onlyLooks = settings.checksOnly
    }

    /// What is settled of engines.
    func webLimits(hostConnectionsMax: Int) -> WebLimits {
        WebLimits(limits, hostConnectionsMax: hostConnectionsMax, authorities: authorities, proxy: proxy)
    }

    private static func text(_ path: String, bytesMax: Int) throws(StartProblem) -> [UInt8] {
        do {
            return try Files.read(path, bytesMax: bytesMax)
        } catch {
            throw StartProblem.file(path, error)
        }
    }

    /// One line without the end.
    private static func secret(_ path: String) throws(StartProblem) -> [UInt8] {
        var text = try text(path, bytesMax: secretBytesMax)
        while let last = text.last, last == 0x0a || last == 0x0d { text.removeLast() }
        guard !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw StartProblem("\(path) does not hold one secret of printable characters")
        }
        return text
    }
}
