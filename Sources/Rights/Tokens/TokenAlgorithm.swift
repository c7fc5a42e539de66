/// The signature algorithms of tokens (RFC 7518 section 3, RFC 8037); there is no `none`.
public enum TokenAlgorithm: String, CaseIterable, Sendable {
    /// HMAC with SHA-256 and a shared secret.
    case hs256 = "HS256"
    /// RSA PKCS #1 v1.5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// Ed25519.
    case eddsa = "EdDSA"

    /// Reads a header's `alg`, byte for byte: names are case-sensitive.
    init?(_ bytes: [UInt8]) {
        guard let match = TokenAlgorithm.allCases.first(where: { bytes.elementsEqual($0.rawValue.utf8) }) else {
            return nil
        }
        self = match
    }
}
