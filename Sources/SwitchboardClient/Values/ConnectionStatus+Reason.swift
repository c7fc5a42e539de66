extension ConnectionStatus {
    /// The reason why there is no connection.
    public struct Reason: Sendable, Hashable {
        /// The kinds of reasons; later versions may add some.
        public struct Code: RawRepresentable, Sendable, Hashable {
            /// The name, as in the documentation.
            public let rawValue: String

            /// The kind of this name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The address is not a WebSocket's.
            public static let badAddress = Code(rawValue: "bad_address")
            /// The name of the host does not resolve: it is wrong, or the device is offline.
            public static let unresolved = Code(rawValue: "unresolved")
            /// Nothing answers at the address.
            public static let unreachable = Code(rawValue: "unreachable")
            /// The server's certificate is not trusted.
            public static let untrusted = Code(rawValue: "untrusted")
            /// The port speaks no TLS.
            public static let notTLS = Code(rawValue: "not_tls")
            /// The server hung up without an answer, as a port for TLS does.
            public static let tlsRequired = Code(rawValue: "tls_required")
            /// The port does not speak HTTP.
            public static let wrongProtocol = Code(rawValue: "wrong_protocol")
            /// The server answered without opening a WebSocket.
            public static let notWebSocket = Code(rawValue: "not_websocket")
            /// The path of the address does not exist.
            public static let notFound = Code(rawValue: "not_found")
            /// The gateway refused the origin or the user.
            public static let forbidden = Code(rawValue: "forbidden")
            /// The gateway refused the token or API key.
            public static let unauthorized = Code(rawValue: "unauthorized")
            /// The gateway runs, but cannot serve now.
            public static let unavailable = Code(rawValue: "unavailable")
            /// The server does not answer in time.
            public static let noAnswer = Code(rawValue: "no_answer")
            /// The connection broke.
            public static let lost = Code(rawValue: "lost")
            /// The gateway closed the connection.
            public static let closed = Code(rawValue: "closed")
            /// The app's source of tokens threw.
            public static let tokenSource = Code(rawValue: "token_source")

            /// Codes that a transport may report about a dial (`SocketEvent.failed`).
            static let ofDials: Set<Code> = [
                .badAddress, .unresolved, .unreachable, .untrusted, .notTLS, .tlsRequired, .wrongProtocol,
                .notWebSocket, .noAnswer,
            ]

            /// Codes that do not pass by waiting.
            static let permanent: Set<Code> = [
                .badAddress, .untrusted, .notTLS, .tlsRequired, .wrongProtocol, .notWebSocket, .notFound, .forbidden,
                .unauthorized,
            ]
        }

        /// The kind of the reason.
        public var code: Code
        /// The description for a developer.
        public var message: String
        /// Whether waiting does not help: the address, the server or the credentials have to be corrected.
        public var isPermanent: Bool

        /// A reason of this kind.
        init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
            isPermanent = Code.permanent.contains(code)
        }

        /// The reason for the end of a socket; `wasOpen` is whether there had been a connection.
        init(code: Int, httpStatus: Int?, message: String, wasOpen: Bool) {
            if let status = httpStatus {
                self.init(httpStatus: status)
            } else if code == 4_401 {
                self.init(.unauthorized, "The gateway refused the token.")
            } else if code == 4_403 {
                self.init(.forbidden, "The gateway refused the user.")
            } else if ![0, 1_005, 1_006].contains(code) {
                self.init(.closed, "The gateway closed: \(code) \(message)")
            } else if wasOpen {
                self.init(.lost, "The connection was lost: \(message)")
            } else {
                // A transport puts the code before a colon.
                let parts = message.split(separator: ":", maxSplits: 1)
                let code = Code(rawValue: parts.first.map { String($0) } ?? "")
                let isKnown = parts.count == 2 && Code.ofDials.contains(code)
                self.init(isKnown ? code : .unreachable, isKnown ? String(parts[1].drop { $0 == " " }) : message)
            }
        }

        private init(httpStatus status: Int) {
            switch status {
            case 401: self.init(.unauthorized, "The gateway refused the token or API key (HTTP 401).")
            case 403: self.init(.forbidden, "The gateway refused the origin or the user (HTTP 403).")
            case 404: self.init(.notFound, "The address has a path that is not there (HTTP 404).")
            case 429, 500...: self.init(.unavailable, "The gateway is not available (HTTP \(status)).")
            default:
                self.init(
                    .notWebSocket,
                    "No WebSocket was opened, as when a proxy drops the header Upgrade (HTTP \(status)).")
            }
        }
    }
}
