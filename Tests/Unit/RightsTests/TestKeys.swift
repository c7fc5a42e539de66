import COpenSSL
import Core

@testable import Rights

/// A fresh key pair as PEM texts, and the public DER.
struct TestKeyPair: Sendable {
    let privatePEM: [UInt8]
    let publicPEM: [UInt8]
    let publicDER: [UInt8]

    /// Takes over a key of OpenSSL.
    init(taking key: OpaquePointer?) {
        let privateDER = unsafe TestKeyPair.der { cursor in unsafe i2d_PrivateKey(key, cursor) }
        publicDER = unsafe TestKeyPair.der { cursor in unsafe i2d_PUBKEY(key, cursor) }
        privatePEM = TestKeyPair.pem("PRIVATE KEY", privateDER)
        publicPEM = TestKeyPair.pem("PUBLIC KEY", publicDER)
        unsafe EVP_PKEY_free(key)
    }

    static let rsa = unsafe TestKeyPair(taking: swb_generate_rsa(2_048))
    static let otherRSA = unsafe TestKeyPair(taking: swb_generate_rsa(2_048))
    static let smallRSA = unsafe TestKeyPair(taking: swb_generate_rsa(1_024))
    static let ec = unsafe TestKeyPair(taking: swb_generate_ec("P-256"))
    static let otherEC = unsafe TestKeyPair(taking: swb_generate_ec("P-256"))
    static let bigEC = unsafe TestKeyPair(taking: swb_generate_ec("P-384"))
    static let ed = unsafe TestKeyPair(taking: swb_generate_ed25519())

    /// A PEM text with lines of 64.
    static func pem(_ label: String, _ der: [UInt8]) -> [UInt8] {
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        let body = Base64.encode(der, .standard)
        for start in stride(from: 0, to: body.count, by: 64) {
            text += body[start..<min(start + 64, body.count)] + [0x0a]
        }
        return text + Array("-----END \(label)-----\n".utf8)
    }

    private static func der(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
        let count = Int(write(nil))
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe write(&cursor)
        }
        return bytes
    }

    /// The P-256 key as a JWK, without the braces.
    var ecJWK: String {
        let point = publicDER.suffix(64)
        return #""kty":"EC","crv":"P-256","x":"\#(base64url(point.prefix(32)))","y":"\#(base64url(point.suffix(32)))""#
    }

    /// The Ed25519 key as a JWK, without the braces.
    var edJWK: String {
        #""kty":"OKP","crv":"Ed25519","x":"\#(base64url(publicDER.suffix(32)))""#
    }

    /// The RSA key of 2048 bits and exponent 65537 as a JWK, without the braces.
    var rsaJWK: String {
        // The DER ends with INTEGER n (256 bytes) and INTEGER e (02 03 01 00 01).
        #""kty":"RSA","n":"\#(base64url(publicDER.dropLast(5).suffix(256)))","e":"AQAB""#
    }
}

func base64url(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: Base64.encode(bytes, .url), as: UTF8.self)
}

/// The secret most tests sign with, and a moment to judge at.
let secret = Array("0123456789abcdef0123456789ABCDEF".utf8)
let otherSecret = Array("ZYXWVUTSRQPONMLKJIHGFEDCBA987654".utf8)
let now = 1_800_000_000
let goodClaims = #"{"sub":"u1","exp":1800000600}"#
let goodHeader = #"{"alg":"HS256","typ":"JWT"}"#

func rules(issuer: String? = nil, audience: String? = nil) -> TokenRules {
    TokenRules(
        tokenBytesMax: 8_192, leewaySeconds: 30, issuer: issuer.map { Array($0.utf8) },
        audience: audience.map { Array($0.utf8) })
}

/// A verifier with the secret alone.
func secretVerifier(_ rules: TokenRules = rules()) throws -> TokenVerifier {
    var keys = TokenKeys()
    try keys.addSecret(secret)
    return TokenVerifier(keys: keys, rules: rules)
}

/// A verifier with PEM public keys.
func verifier(publicKeys: [UInt8]...) throws -> TokenVerifier {
    var keys = TokenKeys()
    for file in publicKeys { try keys.addPEM(file) }
    return TokenVerifier(keys: keys, rules: rules())
}

/// A verifier with a JWKS.
func verifier(jwks: String...) throws -> TokenVerifier {
    var keys = TokenKeys()
    try keys.addJWKS(Array("{\"keys\":[\(jwks.map { "{\($0)}" }.joined(separator: ","))]}".utf8))
    return TokenVerifier(keys: keys, rules: rules())
}

/// A token of any header and claims, signed with the HMAC secret or another.
func token(header: String = goodHeader, claims: String = goodClaims, secret key: [UInt8] = secret) -> [UInt8] {
    signed(Array((base64url(header.utf8) + "." + base64url(claims.utf8)).utf8), key)
}

/// Three segments: the two given and their HMAC.
func signed(_ message: [UInt8], _ key: [UInt8] = secret) -> [UInt8] {
    message + [UInt8(ascii: ".")] + Base64.encode(Digest.hmacSHA256(key: key, message), .url)
}

extension Result where Failure == TokenFailure {
    /// The failure; `nil` on success.
    var failure: TokenFailure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}

extension Result where Success == Identity, Failure == TokenFailure {
    /// The identity; `nil` on failure.
    var identity: Identity? { try? get() }
}
