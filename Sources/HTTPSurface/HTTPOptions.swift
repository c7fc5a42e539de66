public import Configuration
import Core
import HTTPCodec

/// The settings of a node that decide how it answers HTTP.
public struct HTTPOptions: Sendable {
    /// The field that restricts browsers on TLS to TLS; `nil` where it is not sent, as by `switchboard dev`.
    let strictTransport: HTTPResponse.Field?
    /// Whether the gateway agrees on `permessage-deflate`.
    let deflates: Bool
    /// Whether `/echo` is served, for conformance suites.
    let servesEcho: Bool
    /// Whether the operator's page is on the listeners of clients, too.
    let servesInspector: Bool

    /// The options of settings; `isLocal` where pages are served to this machine alone.
    public init(_ settings: GatewaySettings, isLocal: Bool) {
        let hstsSeconds = settings.limits.hstsSeconds
        strictTransport = HTTPHeaderValue("max-age=\(hstsSeconds)").flatMap { value in
            hstsSeconds > 0 && !isLocal ? HTTPResponse.Field(.strictTransportSecurity, value) : nil
        }
        deflates = settings.deflate
        servesEcho = settings.echo
        servesInspector = settings.inspector
    }
}
