import Core
import Dialects
import HTTPCodec
import Rights

/// How native clients say who they are when they open a WebSocket.
enum NativeOpening {
    private static let bearer = Array("bearer.".utf8)

    /// The fields, or `bearer.<token>` among the subprotocols that are offered.
    ///
    /// A page can set no field of an upgrade but `Sec-WebSocket-Protocol`. The token is never chosen as the subprotocol,
    /// so it is not said again in the answer; it needs one beside it that can be chosen.
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
