import Configuration
import Core
import Dialects
import HTTPCodec
import Rights
import Topics

/// The credentials of native clients that open a WebSocket.
enum NativeEntry {
    private static let bearer = Array("bearer.".utf8)

    /// The sockets that the settings name, by path.
    static func entries(
        _ native: NativeDialect, _ settings: GatewaySettings
    ) -> [(pattern: PathPattern, entry: DialectRegistry.Entry)] {
        settings.joinableSockets.compactMap { path, rules in
            guard let pattern = PathPattern(path) else { return nil }
            let dialect = dialects(native, pattern, rules)
            return (
                pattern,
                DialectRegistry.Entry(paths: [path], framing: .webSocket, dialect: dialect, credentials: credentials)
            )
        }
    }

    private static func dialects(
        _ native: NativeDialect, _ pattern: PathPattern, _ rules: SocketRules
    ) -> @Sendable (HTTPRequestHead) -> Result<any Dialect, Refusal> {
        if pattern.arguments.isEmpty, let socket = NativeSocket(rules) {
            let shared = native.at(socket)
            return { _ in .success(shared) }
        }
        return { head in
            guard let values = head.pathSegments.flatMap({ pattern.values(in: $0) }),
                let socket = NativeSocket(rules, values)
            else {
                return .failure(
                    Refusal(.badRequest, "the path names no topic; its parts may have A-Z a-z 0-9 . _ ~ : -"))
            }
            return .success(native.at(socket))
        }
    }

    /// The credentials of the header fields, or `bearer.<token>` among the offered subprotocols.
    ///
    /// A page can set no field of an upgrade but `Sec-WebSocket-Protocol`. The gateway never chooses the token as the
    /// subprotocol, so it does not appear in the response. The client must offer another one that can be chosen.
    static func credentials(_ head: HTTPRequestHead) -> Credentials {
        let fields = Credentials(head)
        let offered = head.upgrade?.protocols ?? []
        let tokens = offered.filter { $0.starts(with: bearer) }
        guard let token = tokens.first else { return fields }
        guard tokens.count == 1, fields == .none else {
            return .malformed(Refusal(.badRequest, "credentials are given more than once"))
        }
        guard offered.contains(where: { $0.elementsEqual(NativeDialect.version.utf8) }) else {
            return .malformed(
                Refusal(
                    .badRequest,
                    "offer the subprotocol \(NativeDialect.version) beside bearer.<token>: a browser closes a connection for "
                        + "which none was chosen"))
        }
        return .bearer(Array(token.dropFirst(bearer.count)))
    }
}

extension GatewaySettings {
    /// The rules of sockets, by path, without topics of namespaces that do not exist, which nobody could join.
    var joinableSockets: [String: SocketRules] {
        sockets.mapValues { rules in
            var rules = rules
            rules.join.removeAll { namespaces[$0.namespace] == nil }
            return rules
        }
    }
}
