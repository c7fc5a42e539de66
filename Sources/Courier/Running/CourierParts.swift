import Configuration
import Core
import RedisLink
import Rights
import Service

/// The parts of a courier that can be misconfigured, and those that its components share.
///
/// Immutable.
struct CourierParts: Sendable {
    /// A random name that identifies the courier in Redis and logs.
    let name = SecureRandom.text(byteCount: 9)
    /// The clock that decides when calls end, and that dates the signatures of webhooks and tokens.
    let clock = NodeClock()
    /// The times for which the whole process was suspended.
    let stalls = ProcessStalls()
    let redis: RedisTarget
    let keys: Keys
    let limits: Limits
    let scripts: CourierScripts
    /// PEM file of authorities, and the proxy, for all outside requests.
    let authorities: String?
    let proxy: String?
    /// The services, and the receivers.
    let services: [ServiceSettings]
    let receivers: [WebhookSettings]
    /// Their secrets at the start.
    let secrets: CourierSecrets
    /// The credentials for APNs; `nil`: no pushes are sent.
    let apns: APNsKey?
    /// The address of a key set, and the file that it is written to; `nil`: none is fetched.
    let keySet: (url: String, file: String)?
    /// The listener of operations; `nil` for none.
    let operationsListener: OperationsListener?
    let log: Log
    /// Whether it only checks that it could work: it delivers nothing and writes nothing.
    let onlyLooks: Bool

    init(_ settings: CourierSettings, log: Log) throws(StartProblem) {
        apns = try APNsKey(settings)
        guard !settings.services.isEmpty || !settings.webhooks.isEmpty || apns != nil || settings.jwksURL != nil else {
            throw StartProblem(
                "nothing to do: the config file names neither services nor webhooks, and there is neither "
                    + "--apns-key-file nor --jwks-url (docs/courier.md)")
        }
        keySet = settings.jwksURL.flatMap { url in settings.jwksFile.map { (url: url, file: $0) } }
        var redis = try RedisTarget.reading(settings.redis, limits: settings.limits)
        redis.layout = LayoutGuard(settings.keys)
        redis.layout?.marks = !settings.checksOnly
        self.redis = redis
        keys = settings.keys
        limits = settings.limits
        scripts = try CourierScripts()
        (authorities, proxy) = (settings.authorities, settings.proxy)
        // libcurl checks the content of the file on use.
        if let path = settings.authorities { _ = try StartFile.read(path, bytesMax: 4 << 20) }
        (services, receivers) = (settings.services, settings.webhooks)
        secrets = try CourierSecrets(services, receivers)
        // A check may run beside a courier of the same settings.
        let ops = settings.checksOnly ? nil : settings.ops
        operationsListener = try ops.map { (address) throws(StartProblem) in try OperationsListener(address) }
        self.log = log
        onlyLooks = settings.checksOnly
    }

    /// The limits of engines.
    func webLimits(hostConnectionsMax: Int) -> WebLimits {
        WebLimits(limits, hostConnectionsMax: hostConnectionsMax, authorities: authorities, proxy: proxy)
    }
}
