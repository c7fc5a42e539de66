public import Core

/// Whose budget pays for what a caller costs.
///
/// Addresses are those of ``IPAddress/limitKey``, so that a client does not get a budget for each address of its network.
public enum Payer: Hashable, Sendable {
    /// Everybody without credentials at addresses that are not known or stand for many, such as a proxy's: pays from the
    /// budget that all anonymous callers share, and from no other.
    case crowd
    /// Everybody at an address (IPv6: at a /64) who has no credentials.
    case address(IPAddress)
    /// Everybody at an address who shows the publishable key of that name.
    case publishable(String, IPAddress)
    /// A user, on all of the user's connections.
    case user([UInt8])
    /// A backend: the name of its API key, or the subject of its token.
    case service([UInt8])

    /// Kinds of payers, which have budgets of different sizes; the raw value is the metric label.
    public enum Kind: String, CaseIterable, Sendable {
        /// Callers without a token.
        case anonymous
        /// Users.
        case user
        /// Backends.
        case service
    }

    /// The address that a caller without credentials is counted by; `nil` for all others and where it is not known.
    public var address: IPAddress? {
        switch self {
        case .address(let address), .publishable(_, let address): address
        case .crowd, .user, .service: nil
        }
    }

    /// Which kind.
    public var kind: Kind {
        switch self {
        case .crowd, .address, .publishable: .anonymous
        case .user: .user
        case .service: .service
        }
    }
}

extension Caller {
    /// Who pays for a request from `address`, which is `nil` where it is not known or stands for many.
    public func payer(from address: IPAddress?) -> Payer {
        switch self {
        case .anonymous: address.map { .address($0.limitKey) } ?? .crowd
        case .publishable(let holder): address.map { .publishable(holder.name, $0.limitKey) } ?? .crowd
        case .user(let identity): identity.role == .service ? .service(identity.user) : .user(identity.user)
        case .service(let holder): .service(Array(holder.name.utf8))
        }
    }
}
