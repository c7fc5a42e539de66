import Core
import Rights

/// A kind of caller, as far as the OpenAPI document differs.
enum OpenAPIAudience: Hashable {
    /// Callers without a token of their own.
    case anonymous
    /// Users.
    case user
    /// Services, by the uses that their key allows.
    case service(reads: Bool, writes: Bool, taps: Bool)
    /// Services bound to topics of these namespaces.
    case bound(Set<ArraySlice<UInt8>>)
    /// Bearers of a token of the gateway's own, for a topic of this namespace.
    case granted(ArraySlice<UInt8>)

    /// The kind of a caller.
    init(_ caller: Caller) {
        switch caller {
        case .anonymous, .publishable: self = .anonymous
        case .service(let holder):
            let rights = holder.rights
            self = .service(reads: rights.allow(.read), writes: rights.allow(.write), taps: rights.allow(.tap))
        case .user(let identity):
            if let binding = caller.binding {
                self = .bound(Set(binding.map(\.namespace)))
            } else if let grant = identity.grant {
                self = .granted(grant.namespace)
            } else {
                self = identity.role == .service ? .service(reads: true, writes: true, taps: false) : .user
            }
        }
    }
}
