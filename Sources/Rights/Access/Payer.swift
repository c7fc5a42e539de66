public import Core

/// The owner of the budget that a caller's requests are charged to.
///
/// Addresses are those of ``IPAddress/limitKey``, so that a client does not get a budget for each address of its
/// network.
public enum Payer: Hashable, Sendable {
    /// All callers without credentials at unknown or shared addresses, such as a proxy's.
    ///
    /// They have only the budget that all anonymous callers share.
    case crowd
    /// All callers without credentials at one address (IPv6: at a /64).
    case address(IPAddress)
    /// All callers at one address that present the publishable key of that name.
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

    /// The address by which a caller without credentials is counted; `nil` for all others and where it is unknown.
    public var address: IPAddress? {
        switch self {
        case .address(let address), .publishable(_, let address): address
        case .crowd, .user, .service: nil
        }
    }

    /// The kind of payer.
    public var kind: Kind {
        switch self {
        case .crowd, .address, .publishable: .anonymous
        case .user: .user
        case .service: .service
        }
    }
}

extension Caller {
    /// The payer of a request from `address`, which is `nil` where it is unknown or shared.
    public func payer(from address: IPAddress?) -> Payer {
        switch self {
        case .anonymous: address.map { .address($0.limitKey) } ?? .crowd
        case .publishable(let holder): address.map { .publishable(holder.name, $0.limitKey) } ?? .crowd
        case .user(let identity): identity.role == .service ? .service(identity.user) : .user(identity.user)
        case .service(let holder): .service(holder.nameBytes)
        }
    }
}
