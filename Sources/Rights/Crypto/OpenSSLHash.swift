import COpenSSL

/// The calls into OpenSSL that need no key object: digests, HMAC, random bytes, constant-time comparison.
///
/// Together with ``AsymmetricKey`` the only place of this target where `unsafe` occurs. All functions are thread-safe.
/// A failure of any of them means that libcrypto is broken or memory has run out. No caller could then keep its
/// promises, hence the preconditions. None depends on input.
enum OpenSSLHash {
    static func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { unsafe digest(bytes, EVP_sha256(), count: 32) }

    static func sha1(_ bytes: ArraySlice<UInt8>) -> [UInt8] { unsafe digest(bytes, EVP_sha1(), count: 20) }

    private static func digest(_ bytes: ArraySlice<UInt8>, _ algorithm: OpaquePointer?, count: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: count)
        let done = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe digest.withUnsafeMutableBufferPointer { output in
                unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil)
            }
        }
        precondition(done == 1, "libcrypto cannot compute a digest")
        return digest
    }

    /// HMAC-SHA-256; the key must not be empty, since OpenSSL takes a null key to mean "the previous one".
    static func hmacSHA256(key: [UInt8], _ message: ArraySlice<UInt8>) -> [UInt8] {
        precondition(!key.isEmpty, "an empty HMAC key")
        var mac = [UInt8](repeating: 0, count: 32)
        var written = 0
        let done = unsafe key.withUnsafeBufferPointer { key in
            unsafe message.withUnsafeBufferPointer { input in
                unsafe mac.withUnsafeMutableBufferPointer { output in
                    unsafe EVP_Q_mac(
                        nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, input.baseAddress, input.count,
                        output.baseAddress, output.count, &written)
                }
            }
        }
        precondition(unsafe done != nil && written == 32, "libcrypto cannot compute HMAC-SHA-256")
        return mac
    }

    /// Bytes of the thread's private generator, reseeded from the kernel.
    static func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return bytes }
        let done = unsafe bytes.withUnsafeMutableBufferPointer { output in
            unsafe RAND_priv_bytes_ex(nil, output.baseAddress, output.count, 256)
        }
        precondition(done == 1, "libcrypto has no random bytes")
        return bytes
    }

    /// Whether two byte strings are equal, in a time that depends on their lengths only.
    static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && difference(left, right) == 0
    }

    /// 0 when two byte strings of one length are equal, 1...255 otherwise, in a time that depends on the length only.
    static func difference(_ left: [UInt8], _ right: [UInt8]) -> Int32 {
        precondition(left.count == right.count, "lengths differ")
        return unsafe left.withUnsafeBufferPointer { left in
            unsafe right.withUnsafeBufferPointer { right in
                unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count)
            }
        }
    }
}
