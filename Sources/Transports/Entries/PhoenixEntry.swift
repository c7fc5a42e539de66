import Configuration
import Core
import Dialects
import HTTPCodec
import Rights
import Topics

/// The path and credentials of Supabase's clients (`GET /realtime/v1/websocket?apikey=...&vsn=...`).
enum PhoenixEntry {
    static func entry(_ settings: GatewaySettings) -> DialectRegistry.Entry {
        let limits = settings.limits
        let flattened = settings.namespaces.filter(\.value.flatten).keys.map { Array($0.utf8) }
        let dialects = PhoenixVersion.allCases.map { version in
            PhoenixDialect(
                version, json: limits.json, channelsMax: limits.topicsPerConnectionMax,
                publishBytesMax: limits.publishBytesMax, flattened: Set(flattened))
        }
        return DialectRegistry.Entry(
            paths: PhoenixDialect.paths, framing: .webSocket,
            dialect: { head in
                let version = version(head)
                return dialects.first { $0.version == version }.map { .success($0) }
                    ?? .failure(Refusal(.forbidden, "vsn must be 1.0.0 or 2.0.0"))
            },
            credentials: credentials, refused: refused)
    }

    /// The query's `vsn`; `nil` for a version that is not supported.
    private static func version(_ head: HTTPRequestHead) -> PhoenixVersion? {
        switch head.queryItem("vsn") {
        case .absent: PhoenixVersion(vsn: nil)
        case .one(let text): PhoenixVersion(vsn: text)
        case .repeated, .malformed: nil
        }
    }

    /// The key of `x-api-key`, else of the query, else the credentials of other requests.
    ///
    /// Browsers can set no field of an upgrade, and all clients put the key into the query; it is never logged. A
    /// service's key is not accepted there.
    private static func credentials(_ head: HTTPRequestHead) -> Credentials {
        for (value, isInURL) in [(head.headers.single("x-api-key"), false), (head.queryItem("apikey"), true)] {
            switch value {
            case .one(let key) where !key.isEmpty: return isInURL ? .inURL(.apiKey(key)) : .apiKey(key)
            case .one, .absent: continue
            case .repeated, .malformed:
                return .malformed(Refusal(.badRequest, "The API key is given more than once, or malformed"))
            }
        }
        let credentials = Credentials(head)
        return credentials == .none ? .malformed(Refusal(.unauthorized, "API key is missing")) : credentials
    }

    /// `{"error":"<text>"}`.
    private static func refused(_ refusal: Refusal, status: Int) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"error\":")
        body.append(jsonString: refusal.message)
        body.append(text: "}")
        return .json(status: status, body: body, keepAlive: false)
    }
}
