/// Writes the DER SubjectPublicKeyInfo of keys that arrive as numbers (JWK).
///
/// So every public key, PEM or JWK, enters OpenSSL by the same way: ``AsymmetricKey/init(publicDER:)``.
enum PublicKeyInfo {
    /// RSA (RFC 8017 appendix A.1.1), from big-endian modulus and exponent.
    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        // AlgorithmIdentifier: 1.2.840.113549.1.1.1, NULL.
        let algorithm: [UInt8] = [
            0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let key = element(0x30, integer(modulus) + integer(exponent))
        return element(0x30, algorithm + element(0x03, [0] + key))
    }

    /// P-256 (RFC 5480), from the two 32-byte coordinates; OpenSSL checks that the point is on the curve.
    static func p256(x: [UInt8], y: [UInt8]) -> [UInt8] {
        // AlgorithmIdentifier: 1.2.840.10045.2.1, 1.2.840.10045.3.1.7.
        let algorithm: [UInt8] = [
            0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
            0x3d, 0x03, 0x01, 0x07,
        ]
        return element(0x30, algorithm + element(0x03, [0, 0x04] + x + y))
    }

    /// Ed25519 (RFC 8410), from the 32 key bytes.
    static func ed25519(_ key: [UInt8]) -> [UInt8] {
        // AlgorithmIdentifier: 1.3.101.112.
        element(0x30, [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70] + element(0x03, [0] + key))
    }

    /// A non-negative integer in its shortest form.
    private static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        var digits = Array(magnitude.drop { $0 == 0 })
        if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
        return element(0x02, digits)
    }

    /// Tag, length, content.
    ///
    /// Lengths here stay far below 2^24.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        precondition(count < 1 << 24, "DER element too long")
        let low = UInt8(truncatingIfNeeded: count)
        let middle = UInt8(truncatingIfNeeded: count >> 8)
        return switch count {
        case 0..<0x80: [tag, low] + content
        case 0x80..<0x100: [tag, 0x81, low] + content
        case 0x100..<0x1_0000: [tag, 0x82, middle, low] + content
        default: [tag, 0x83, UInt8(truncatingIfNeeded: count >> 16), middle, low] + content
        }
    }
}
