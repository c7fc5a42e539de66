/// The reason why a key, an allow-list or a policy from the operator was refused.
///
/// Descriptions are meant for the log and the terminal at start; they never contain key material.
public enum RightsProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// An HMAC secret shorter than ``TokenKeys/secretBytesMin``; the figure is its actual length.
    case secretTooShort(bytes: Int)
    /// A file or value beyond its limit in bytes.
    case tooLong(bytesMax: Int)
    /// An HMAC secret in the form of a key: anyone who knows the public key could sign with it.
    case secretIsKey
    /// A PEM text that could not be read; the sentence names the reason.
    case pem(String)
    /// A JWKS text that could not be read; the sentence names the reason.
    case jwks(String)
    /// A key whose kind, size or curve is not accepted; the sentence names the accepted ones.
    case keyRefused(String)
    /// A key id that is empty, too long, or named twice within one issuer.
    case keyID(String)
    /// More keys than the limit.
    case tooManyKeys(max: Int)
    /// A line of the API key file.
    case apiKeys(line: Int, String)
    /// An entry of the origin allow-list.
    case origin(String)
    /// A namespace name outside `[a-z][a-z0-9-]{0,31}`.
    case namespace(String)
    /// Claims that a verifier would refuse; the sentence names the reason.
    case claims(String)
    /// OpenSSL could not sign.
    case signing

    /// The fault and its remedy.
    public var description: String {
        switch self {
        case .secretTooShort(let bytes):
            "the token secret has \(bytes) bytes; at least \(TokenKeys.secretBytesMin) are required"
                + " (openssl rand -base64 48)"
        case .tooLong(let bytesMax): "longer than \(bytesMax) bytes"
        case .secretIsKey: "the token secret is a PEM, DER or JSON key; a public key must never be an HMAC secret"
        case .pem(let why): "PEM: \(why)"
        case .jwks(let why): "JWKS: \(why)"
        case .keyRefused(let why): "key refused: \(why)"
        case .keyID(let why): "key id: \(why)"
        case .tooManyKeys(let max): "more than \(max) keys"
        case .apiKeys(let line, let why): "API keys, line \(line): \(why)"
        case .origin(let why): "origin: \(why)"
        case .namespace(let name): "namespace \(name): must match [a-z][a-z0-9-]{0,31}"
        case .claims(let why): "claims: \(why)"
        case .signing: "the key could not sign"
        }
    }
}
