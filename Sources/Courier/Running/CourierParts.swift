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
    /// The time by which calls end, and that webhooks and tokens are signed with.
    let clock = NodeClock()
    /// Times for which the whole process stood still.
    let stalls = ProcessStalls()
    let redis: RedisTarget
    let keys: Keys
    let limits: Limits
    let scripts: CourierScripts
    /// PEM file of authorities, and the proxy, for everything outside.
    let authorities: String?
    let proxy: String?
    /// The services, and the receivers.
    let services: [ServiceSettings]
    let receivers: [WebhookSettings]
    /// Their secrets at the start.
    let secrets: CourierSecrets
    /// Who the courier is to APNs; `nil`: no pushes are sent.
    let apns: APNsKey?
    /// The listener of operations; `nil` for none.
    let door: OperationsDoor?
    let log: Log
    /// Whether it only sees whether it could work: it carries nothing and writes nothing.
    let onlyLooks: Bool

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
        if let path = settings.authorities { try CourierParts.check(path) }
        (services, receivers) = (settings.services, settings.webhooks)
        secrets = try CourierSecrets(services, receivers)
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

    /// Whether the file of authorities can be read; libcurl says what is in it when it is used.
    private static func check(_ path: String) throws(StartProblem) {
        do {
            _ = try Files.read(path, bytesMax: 4 << 20)
        } catch {
            throw StartProblem.file(path, error)
        }
    }
}
