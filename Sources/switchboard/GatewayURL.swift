import Configuration
import Connections
import Core
import Gateway
import Service

/// The gateway's address for `publish` and `tail`: from `--url`, or from the ready file of the running `dev`.
struct GatewayURL {
    let host: String
    let port: UInt16
    let isSecure: Bool
    /// The TLS settings; `nil` for `http`.
    let tls: TLSContext?
    /// The name the certificate must have; empty skips the check (`--insecure`).
    let verifiedName: String

    init(_ address: GatewayAddress) throws(StartProblem) {
        let text: String
        if let url = address.url { text = url } else { text = try GatewayURL.running(address.state) }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else {
            throw StartProblem("--url must begin with https:// or http://")
        }
        let authority = text.utf8.dropFirst(isSecure ? 8 : 7).prefix { $0 != UInt8(ascii: "/") }
        let given = String(decoding: Array(authority), as: UTF8.self)
        let hasPort = authority.reversed().prefix { $0 != UInt8(ascii: "]") }.contains(UInt8(ascii: ":"))
        let place: HostPort
        do {
            place = try HostPort(parsing: hasPort ? given : given + (isSecure ? ":443" : ":80"))
        } catch {
            throw StartProblem("--url: '\(given)' is not host:port")
        }
        host = place.host
        port = place.port
        self.isSecure = isSecure
        guard isSecure else {
            (tls, verifiedName) = (nil, "")
            return
        }
        do {
            switch address.trust {
            case .system: tls = try TLSContext(clientTrusting: nil)
            case .file(let path): tls = try TLSContext(clientTrusting: path)
            case .anything: tls = try TLSContext(clientTrusting: nil)
            }
        } catch {
            throw StartProblem(error.description)
        }
        verifiedName = address.trust == .anything ? "" : host
    }

    /// `host:port`, in the form of the `Host` field.
    var authority: String { HostPort(host: host, port: port).description }

    /// The address in the ready file of the running `dev`.
    private static func running(_ state: StateDirectory) throws(StartProblem) -> String {
        guard let bytes = try? Files.read(state.ready, bytesMax: 65_536),
            let json = try? JSON(parsing: bytes, limits: JSON.Limits(depthMax: 4, elementsMax: 64)),
            let tls = json.root["tls"], let first = Array(tls.members).first,
            let host = first["host"]?.string, let port = first["port"]?.int
        else {
            throw StartProblem(
                "no gateway is known: start 'switchboard dev', or give --url (looked in \(state.ready))")
        }
        return "https://" + HostPort(host: host, port: UInt16(truncatingIfNeeded: port)).description
    }
}
