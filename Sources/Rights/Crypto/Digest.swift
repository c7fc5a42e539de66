/// Digests of OpenSSL for every target: the WebSocket accept key, API keys, tokens.
///
/// Thread-safe.
public enum Digest {
    /// SHA-256 (FIPS 180-4): 32 bytes.
    public static func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
        OpenSSLHash.sha256(ArraySlice(bytes))
    }

    /// SHA-1: 20 bytes.
    ///
    /// For RFC 6455 section 1.3 only, where it is no security function.
    public static func sha1(_ bytes: some Collection<UInt8>) -> [UInt8] {
        OpenSSLHash.sha1(ArraySlice(bytes))
    }

    /// HMAC-SHA-256 (RFC 2104): 32 bytes.
    ///
    /// The key must not be empty.
    public static func hmacSHA256(key: [UInt8], _ message: some Collection<UInt8>) -> [UInt8] {
        OpenSSLHash.hmacSHA256(key: key, ArraySlice(message))
    }

    /// Whether two byte strings are equal, in a time that depends on their lengths but not on their contents.
    public static func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        OpenSSLHash.equal(left, right)
    }
}
