public import Core

/// The reason why a token was refused.
///
/// Raw values are for logs and metric labels; the token itself never is.
public enum TokenFailure: String, Error, CaseIterable, Sendable {
    /// Empty, or longer than `tokenBytesMax`.
    case length = "token_length"
    /// Not three segments: no compact JWS (RFC 7515 section 3.1); JWE has five.
    case shape = "token_shape"
    /// A segment is not strict base64url: padding, other alphabet, white space, trailing bits.
    case encoding = "token_encoding"
    /// The header is no JSON object, has a duplicate name, or a member of a wrong kind.
    case header = "token_header"
    /// `alg` is missing, unknown, `none`, or not the one that the key allows.
    case algorithm = "token_algorithm"
    /// `crit`, `b64`, `zip`, `enc` or `cty`: extensions, encryption and nesting are not understood.
    case extended = "token_extended"
    /// No key for this `kid`.
    case key = "token_key"
    /// The signature is not the key's.
    case signature = "token_signature"
    /// The claims are no JSON object, have a duplicate name, or a member of a wrong kind.
    case claims = "token_claims"
    /// `exp`, `nbf` or `iat` is no integer within 0...253402300799 (year 9999), or `exp` is missing.
    case time = "token_time"
    /// `exp` is past.
    case expired = "token_expired"
    /// `nbf` is in the future.
    case notYet = "token_not_yet"
    /// `iss` is missing or another than configured or bound to the key.
    case issuer = "token_issuer"
    /// `aud` is missing or names another audience.
    case audience = "token_audience"
    /// `sub` is missing or out of `[A-Za-z0-9._~:-]{1,128}`.
    case subject = "token_subject"
    /// `role` is neither `user` nor `service`, nor a name that the configuration maps (`--jwt-role`).
    case role = "token_role"
    /// `topics` is no array of at most 256 patterns.
    case topics = "token_topics"
    /// The role is anonymous by the configuration: no user can authenticate with it.
    case anonymous = "token_anonymous"
    /// The key that admitted the bearer was replaced.
    case replaced = "token_key_replaced"
    /// The user's tokens of that time, or this token alone, were revoked.
    case revoked = "token_revoked"

    /// The refusal for the client.
    public var refusal: Refusal {
        let message =
            switch self {
            case .length: "The token is empty or too long."
            case .shape: "The token is not a signed JWT of three segments."
            case .encoding: "A segment of the token is not unpadded base64url."
            case .header: "The token's header is not valid."
            case .algorithm: "The token's alg is not accepted."
            case .extended: "Tokens with crit, b64, zip, enc or cty are not accepted."
            case .key: "The token's kid is not known."
            case .signature: "The token's signature is wrong."
            case .claims: "The token's claims are not valid JSON."
            case .time: "The token's exp is required; exp, nbf and iat must be whole seconds."
            case .expired: "The token has expired; a new one is needed."
            case .notYet: "The token is not valid yet."
            case .issuer: "The token's iss is not accepted."
            case .audience: "The token's aud does not name this service."
            case .subject: "The token's sub must be 1 to 128 of A-Z a-z 0-9 . _ ~ : -"
            case .role: "The token's role must be user or service, or another that the server maps to one of them."
            case .topics: "The token's topics must be at most 256 patterns such as order:7 or order:*."
            case .anonymous: "The token's role is anonymous: it names no user to authenticate."
            case .replaced: "The key of these credentials was replaced; new ones are needed."
            case .revoked: "The token was revoked; a new one is needed."
            }
        return Refusal(.unauthorized, message)
    }
}
