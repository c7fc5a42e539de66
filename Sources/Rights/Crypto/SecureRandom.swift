import Core

/// Random values that cannot be guessed: epochs, connection ids, secrets, jitter.
///
/// Thread-safe; every copy draws from the calling thread's generator inside OpenSSL.
public struct SecureRandom: RandomNumberGenerator, Sendable {
    /// The generator; it has no state of its own.
    public init() {}

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Random bytes of the given number, which must not be negative.
    public static func bytes(_ count: Int) -> [UInt8] {
        OpenSSLHash.random(count)
    }

    /// Random bytes as base64url text, such as an epoch (``Position``): 12 bytes become 16 of `[A-Za-z0-9_-]`.
    public static func text(byteCount: Int) -> [UInt8] {
        Base64.encode(bytes(byteCount), .url)
    }
}
