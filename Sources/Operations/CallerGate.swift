public import Connections
public import Core
public import HTTPCodec
import Reactors
public import Rights
import Synchronization

/// Decides who a caller is and whether its credentials still count, for all listeners of a node.
///
/// A reload replaces the keys, and the poller of revocations adds to the refused tokens. Thread: any.
public final class CallerGate: Sendable {
    /// The members that a reload replaces together.
    public struct Keys: Sendable {
        /// Checks credentials.
        public var authenticator: Authenticator
        /// The certificate of the TLS listener, whose names are the gateway's own; `nil` without one.
        public var certificate: TLSContext?

        /// The keys of one reading of the files; `certificate` is `nil` without a TLS listener.
        public init(authenticator: Authenticator, certificate: TLSContext?) {
            self.authenticator = authenticator
            self.certificate = certificate
        }
    }

    private let keys: Guarded<Keys>
    private let replacements = Atomic<Int>(0)
    private let revocations = Guarded(Revocations())
    /// The pages that may connect.
    public let origins: OriginPolicy
    private let allowsAnonymous: Bool

    /// A gate without revocations; `allowsAnonymous` lets callers without credentials in.
    public init(_ keys: Keys, origins: OriginPolicy, allowsAnonymous: Bool) {
        self.keys = Guarded(keys)
        self.origins = origins
        self.allowsAnonymous = allowsAnonymous
    }

    /// Checks credentials by the current keys.
    public var authenticator: Authenticator { keys.withLock { $0.authenticator } }

    /// The current certificate; `nil` without a TLS listener.
    public var certificate: TLSContext? { keys.withLock { $0.certificate } }

    /// Replaces keys and certificate, for new callers.
    public func replace(_ keys: Keys) {
        self.keys.withLock { $0 = keys }
        replacements.add(1, ordering: .releasing)
    }

    /// The number of times that the keys were replaced; a verdict on a key is valid as long as it is the same.
    public var keysVersion: Int { replacements.load(ordering: .acquiring) }

    // MARK: Callers

    /// The identity of a token, or the reason for its refusal; `now` is in Unix seconds.
    public func verify(_ token: [UInt8], now: Int) -> Result<Identity, TokenFailure> {
        authenticator.verifier.verify(token, now: now).flatMap { identity in
            failure(of: identity).map { .failure($0) } ?? .success(identity)
        }
    }

    /// Refuses a caller whose token was revoked.
    public func unlessRevoked(_ caller: Caller) -> Result<Caller, Refusal> {
        guard case .user(let identity) = caller, let failure = failure(of: identity) else { return .success(caller) }
        return .failure(failure.refusal)
    }

    /// Rejects the anonymous caller when the gateway requires a token.
    public func unlessAnonymous(_ caller: Caller) -> Result<Caller, Refusal> {
        guard caller.isAnonymous && !allowsAnonymous else { return .success(caller) }
        return .failure(Refusal(.unauthorized, "a token is needed"))
    }

    private func failure(of identity: Identity) -> TokenFailure? {
        revocations.withLock { $0.failure(for: identity) }
    }

    // MARK: Revocations

    /// Whether every revocation made before this node began is known here.
    public var knowsEveryRevocation: Bool { revocations.withLock { $0.isComplete } }

    /// The time up to which issued tokens of a user are refused, Unix seconds; `nil` when there is none.
    public func revokedUntil(_ user: [UInt8]) -> Int? { revocations.withLock { $0.until(of: user) } }

    /// Notes that every revocation has been read.
    public func readEveryRevocation() { revocations.withLock { $0.isComplete = true } }

    /// Refuses revoked tokens, from now on, on every listener.
    public func remember(_ more: [Revocation]) {
        guard !more.isEmpty else { return }
        revocations.withLock { list in
            for revocation in more { list.add(revocation) }
        }
    }

    /// Forgets revocations of tokens that have expired by themselves; `now` is in Unix seconds.
    public func forgetRevocations(now: Int) { revocations.withLock { $0.forget(now: now) } }

    // MARK: Pages

    /// Whether the request was sent to a name of this gateway.
    public func isOwnHost(_ head: HTTPRequestHead) -> Bool {
        let certificate = certificate
        return origins.isOwn(host: head.host, isOwnName: { certificate?.isNamed($0) ?? false })
    }

    /// The refusal of a request from a page that may not connect; `nil` for any other request.
    public func refusalOfOrigin(_ head: HTTPRequestHead, isSecure: Bool, takesAny: Bool = true) -> Refusal? {
        let certificate = certificate
        return origins.judge(
            origins: head.headers.values(of: "origin"), host: head.host, secure: isSecure, takesAny: takesAny,
            isOwnName: { certificate?.isNamed($0) ?? false }
        ).refusal
    }
}
