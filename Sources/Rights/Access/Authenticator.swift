public import Core

/// Identifies the caller from credentials: of HTTP requests, WebSocket upgrades, and messages that authenticate.
///
/// Immutable and thread-safe; a reload of keys makes a new one.
public struct Authenticator: Sendable {
    /// The verifier of tokens.
    public let verifier: TokenVerifier
    /// The keys of backends and pages.
    public let apiKeys: APIKeys

    /// Makes an authenticator.
    public init(verifier: TokenVerifier, apiKeys: APIKeys) {
        self.verifier = verifier
        self.apiKeys = apiKeys
    }

    /// The caller that presents the credentials.
    ///
    /// Credentials that are given must be valid: a wrong key never counts as anonymous. `now` is Unix time in seconds.
    public func caller(_ credentials: Credentials, now: Int) -> Result<Caller, Refusal> {
        guard case .inURL(let shown) = credentials else {
            return keyHolder(credentials).map { .success($0) } ?? bearer(credentials, now: now)
        }
        return caller(shown, now: now).flatMap { $0.isService ? .failure(Authenticator.serviceInURL) : .success($0) }
    }

    private static let serviceInURL = Refusal(
        .unauthorized, "a service's key or token must not stand in a URL; show it in a header, or use a publishable key"
    )

    /// The caller that presents one of the API keys; `nil` when the credentials contain none.
    public func keyHolder(_ credentials: Credentials) -> Caller? {
        switch credentials {
        case .none, .malformed: nil
        case .inURL(let shown): keyHolder(shown)
        case .apiKey(let key), .bearer(let key): apiKeys.match(key)
        }
    }

    /// The caller that presents the credentials, which are no API key.
    public func bearer(_ credentials: Credentials, now: Int) -> Result<Caller, Refusal> {
        switch credentials {
        case .none:
            .success(.anonymous)
        case .malformed(let refusal):
            .failure(refusal)
        case .inURL(let shown):
            bearer(shown, now: now)
        case .apiKey(let token):
            verifier.caller(of: token, now: now).mapError { failure in
                // A text that is no token at all was meant as a key.
                failure == .shape || failure == .length
                    ? Refusal(.unauthorized, "the API key is not known") : failure.refusal
            }
        case .bearer(let token):
            verifier.caller(of: token, now: now).mapError(\.refusal)
        }
    }

    /// Whether the key that once admitted a caller is still valid.
    ///
    /// It is for sessions that outlive a reload: they store no token, only the mark of the key that signed it.
    public func stillKnows(_ caller: Caller) -> Bool {
        switch caller {
        case .anonymous: true
        case .publishable, .service: apiKeys.has(caller)
        case .user(let identity):
            identity.grant == nil
                ? verifier.keys.has(mark: identity.keyMark) : verifier.grants.has(mark: identity.keyMark)
        }
    }
}
