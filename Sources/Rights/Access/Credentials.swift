public import Core

/// The credentials of a request, read from its fields and not yet checked.
public indirect enum Credentials: Sendable, Equatable {
    /// Nothing.
    case none
    /// The field `apikey`: an API key, or a token, since Supabase's clients send either there.
    case apiKey([UInt8])
    /// The field `Authorization: Bearer`: a token or an API key.
    case bearer([UInt8])
    /// Credentials in the URL, for browsers, which can put them nowhere else.
    ///
    /// URLs end up in histories and in logs of proxies, so a service's credentials are refused there.
    case inURL(Credentials)
    /// Fields that are malformed.
    case malformed(Refusal)

    /// Reads every `apikey` and every `Authorization` field of a request.
    ///
    /// `apikey` takes precedence when both are present: Supabase's clients send their key as the one and the user's
    /// token or the key again as the other.
    public init(apiKeys: [[UInt8]], authorizations: [[UInt8]]) {
        guard apiKeys.count <= 1, authorizations.count <= 1 else {
            self = .malformed(Refusal(.badRequest, "credentials are given more than once"))
            return
        }
        if let key = apiKeys.first {
            self = .apiKey(key)
        } else if let value = authorizations.first {
            self =
                Credentials.bearer(value).map { .bearer($0) }
                ?? .malformed(Refusal(.unauthorized, "Authorization must be 'Bearer <token or API key>'"))
        } else {
            self = .none
        }
    }

    private static func bearer(_ value: [UInt8]) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, ASCII.equalIgnoringCase(value[..<scheme.count], scheme) else { return nil }
        return Array(value[scheme.count...])
    }
}
