import Connections
public import Core
public import RedisLink

extension RedisTarget {
    /// Reads the Redis URL of the settings, with the system's authorities for `rediss://`.
    public static func reading(_ url: String, limits: Limits) throws(StartProblem) -> RedisTarget {
        let parsed: RedisURL
        do {
            parsed = try RedisURL(parsing: url)
        } catch {
            throw StartProblem("redis: \(error)")
        }
        var tls: TLSContext?
        if parsed.isEncrypted {
            do {
                tls = try TLSContext(clientTrusting: Environment.value("SSL_CERT_FILE"))
            } catch {
                throw StartProblem("redis: \(error)")
            }
        }
        return RedisTarget(url: parsed, tls: tls, limits: limits)
    }
}
