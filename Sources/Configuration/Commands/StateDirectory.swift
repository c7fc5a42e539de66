/// The directory of the files that `dev` creates; only this type names these files.
public struct StateDirectory: Sendable, Equatable {
    /// The configured directory, relative to the working directory unless it begins with `/`.
    public let path: String

    /// Makes the names of a directory's files.
    public init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The self-signed certificate, PEM.
    public var certificate: String { file("cert.pem") }
    /// Its private key, PEM.
    public var privateKey: String { file("key.pem") }
    /// The secret that signs tokens.
    public var jwtSecret: String { file("jwt-secret") }
    /// The API key of the demo's backend, alone on a line.
    public var apiKey: String { file("api-key") }
    /// The list of API keys, in the form of `--api-keys`.
    public var apiKeys: String { file("api-keys") }
    /// The key for pushes to the stand-in for APNs, PEM, in the form of Apple's keys.
    public var apnsKey: String { file("apns-key.p8") }
    /// The unix socket of the private Redis.
    public var redisSocket: String { file("redis.sock") }
    /// The directory of the data of the private Redis.
    public var data: String { file("data") }
    /// The log of a run; each run begins it anew.
    public var log: String { file("dev.log") }
    /// The log of the courier; each run begins it anew.
    public var courierLog: String { file("courier.log") }
    /// The secret that signs what is sent to `--webhook`.
    public var webhookSecret: String { file("webhook-secret") }
    /// The bound addresses of the running gateway, in the form of `--ready-file`.
    public var ready: String { file("ready.json") }

    private func file(_ name: String) -> String { (path == "/" ? "" : path) + "/" + name }
}
