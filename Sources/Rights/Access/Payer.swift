public import Core

/// Whose budget pays for what a caller asks.
///
/// Names of the four kinds never meet: a user `web` and a key `web` are two payers.
public enum Payer: Hashable, Sendable {
    /// Everybody at an address (IPv6: at a /64) who has no credentials.
    case address(IPAddress)
    /// Everybody at an address who shows the publishable key of that name.
    case publishable(String, IPAddress)
    /// A user, on all of the user's connections.
    case user([UInt8])
    /// A backend: the name of its API key, or the subject of its token.
    case service([UInt8])
}

extension Caller {
    /// Who pays for a request from `address`; `nil` for a peer without address or identity, such as one on a unix socket.
    public func payer(from address: IPAddress?) -> Payer? {
        switch self {
        case .anonymous: address.map { .address($0.limitKey) }
        case .publishable(let holder): address.map { .publishable(holder.name, $0.limitKey) }
        case .user(let identity): identity.role == .service ? .service(identity.user) : .user(identity.user)
        case .service(let holder): .service(Array(holder.name.utf8))
        }
    }
}
