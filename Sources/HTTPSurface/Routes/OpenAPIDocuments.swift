public import Commands
import Core
import HTTPCodec
import Rights

/// The OpenAPI document for each kind of caller, with only the operations that such a caller may call.
///
/// A service with every right gets the whole document, including calls for users only: its developers write programs
/// for users. The documents of the usual kinds are made at the start. Immutable and thread-safe.
public struct OpenAPIDocuments: Sendable {
    /// A document that can be sent as it is.
    struct Document: Sendable {
        /// The JSON text.
        let body: [UInt8]
        /// The entity tag for caches.
        let tag: EntityTag

        init(_ body: [UInt8]) {
            self.body = body
            tag = EntityTag(of: body)
        }
    }

    private let interface: OpenAPI
    private let rights: CallRights
    private var ready: [OpenAPIAudience: Document] = [:]

    /// Makes the documents of the usual kinds of callers.
    public init(_ interface: OpenAPI, _ rights: CallRights) {
        self.interface = interface
        self.rights = rights
        let everything = APIKeyRights.everything
        var callers: [Caller] = [.anonymous]
        for rights: APIKeyRights in [everything, everything.subtracting(.write), everything.subtracting(.read)] {
            callers.append(.service(APIKeyHolder("", rights)))
        }
        if let user = Identity(user: Array("user".utf8), role: .user, topics: [], expiresAt: 0) {
            callers.append(.user(user))
        }
        for caller in callers { ready[OpenAPIAudience(caller)] = make(for: caller) }
    }

    /// The document of a usual kind of caller; `nil` for a kind whose document is made on demand.
    subscript(_ audience: OpenAPIAudience) -> Document? { ready[audience] }

    /// Makes the document of a caller.
    func make(for caller: Caller) -> Document {
        // Developers also read in it how their operators watch a client, which another key may do.
        let isWhole =
            if case .service(reads: true, writes: true, taps: _) = OpenAPIAudience(caller) { true } else { false }
        return Document(interface.document { isWhole || rights.reaches($0, caller) })
    }
}
