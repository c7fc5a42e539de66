import COpenSSL

/// An RSA, P-256 or Ed25519 key held by OpenSSL, for the one algorithm its kind allows.
///
/// The algorithm follows from the key, never from a token: this is what makes algorithm confusion impossible
/// (RFC 8725 section 3.1). Immutable after `init` and safe to share between threads: `EVP_PKEY` is only read, its
/// reference count is atomic, and every operation has its own context. Each method leaves the thread's OpenSSL error
/// queue empty, because a stale error would make a healthy TLS connection of the same thread look broken.
@safe final class AsymmetricKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// The only algorithm this key verifies or signs: RS256, ES256 or EdDSA.
    let algorithm: TokenAlgorithm

    /// RSA moduli accepted, bits.
    ///
    /// The upper bound keeps one verification below about a millisecond.
    static let rsaBits = 2_048...8_192

    /// Takes a public key as a DER SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7), nothing after it.
    convenience init(publicDER der: [UInt8]) throws(RightsProblem) {
        try unsafe self.init(
            taking: AsymmetricKey.read(der) { cursor, count in unsafe d2i_PUBKEY(nil, cursor, count) },
            public: true)
    }

    /// Takes a private key as DER: PKCS #8, or the older RSA and EC forms.
    convenience init(privateDER der: [UInt8]) throws(RightsProblem) {
        try unsafe self.init(
            taking: AsymmetricKey.read(der) { cursor, count in unsafe d2i_AutoPrivateKey(nil, cursor, count) },
            public: false)
    }

    private init(taking key: OpaquePointer?, public isPublic: Bool) throws(RightsProblem) {
        defer { ERR_clear_error() }
        guard let key = unsafe key else { throw .keyRefused("not a readable DER key") }
        do throws(RightsProblem) {
            self.algorithm = try unsafe AsymmetricKey.algorithm(of: key)
            guard unsafe AsymmetricKey.isConsistent(key, public: isPublic) else {
                throw .keyRefused("its numbers do not form a valid key")
            }
        } catch {
            unsafe EVP_PKEY_free(key)
            throw error
        }
        unsafe self.key = unsafe key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// The public key as a DER SubjectPublicKeyInfo; empty when OpenSSL cannot write it.
    var publicDER: [UInt8] {
        defer { ERR_clear_error() }
        let count = unsafe i2d_PUBKEY(key, nil)
        guard count > 0 else { return [] }
        var der = [UInt8](repeating: 0, count: Int(count))
        unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe i2d_PUBKEY(key, &cursor)
        }
        return der
    }

    /// Whether the bytes are one DER public key; used to refuse such bytes as a secret.
    static func isPublicDER(_ der: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let key = unsafe read(der, { cursor, count in unsafe d2i_PUBKEY(nil, cursor, count) }) else {
            return false
        }
        unsafe EVP_PKEY_free(key)
        return true
    }

    /// Calls a DER reader; `nil` when it refuses or leaves bytes unread.
    private static func read(
        _ der: [UInt8], _ reader: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        unsafe der.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nil }
            var cursor: UnsafePointer<UInt8>? = unsafe start
            guard let key = unsafe reader(&cursor, buffer.count) else { return nil }
            guard unsafe cursor == start + buffer.count else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
    }

    private static func algorithm(of key: OpaquePointer) throws(RightsProblem) -> TokenAlgorithm {
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            let bits = unsafe Int(EVP_PKEY_get_bits(key))
            guard rsaBits.contains(bits) else {
                throw .keyRefused("RSA of \(bits) bits; \(rsaBits.lowerBound)...\(rsaBits.upperBound) are accepted")
            }
            return .rs256
        }
        if unsafe EVP_PKEY_is_a(key, "EC") == 1 {
            var name = [CChar](repeating: 0, count: 32)
            var count = 0
            let known = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count)
            let group = name.prefix(max(0, min(count, name.count))).map { UInt8(bitPattern: $0) }
            guard known == 1, group == Array("prime256v1".utf8) else {
                throw .keyRefused("an EC key on another curve; P-256 is accepted")
            }
            return .es256
        }
        if unsafe EVP_PKEY_is_a(key, "ED25519") == 1 { return .eddsa }
        throw .keyRefused("of another kind; RSA, EC P-256 and Ed25519 are accepted")
    }

    private static func isConsistent(_ key: OpaquePointer, public isPublic: Bool) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe (isPublic ? EVP_PKEY_public_check(context) : EVP_PKEY_check(context)) == 1
    }

    /// Whether a JWS signature (RFC 7518 section 3) over the message is this key's.
    func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        defer { ERR_clear_error() }
        guard let signature = algorithm == .es256 ? AsymmetricKey.der(fromRaw: signature) : signature,
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = unsafe algorithm == .eddsa ? nil : EVP_sha256()
        guard unsafe EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
            }
        }
    }

    /// The JWS signature of a message; needs a private key.
    func sign(_ message: [UInt8]) throws(RightsProblem) -> [UInt8] {
        defer { ERR_clear_error() }
        guard let context = unsafe EVP_MD_CTX_new() else { throw .signing }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = unsafe algorithm == .eddsa ? nil : EVP_sha256()
        var count = unsafe Int(EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSignInit(context, nil, digest, nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw .signing }
        let result = Array(signature.prefix(count))
        guard algorithm == .es256 else { return result }
        guard let raw = AsymmetricKey.raw(fromDER: result) else { throw .signing }
        return raw
    }

    /// The DER form of an ES256 signature; `nil` unless it is 64 bytes with r and s both above zero.
    ///
    /// OpenSSL's verification checks that they are below the group order (cf. CVE-2022-21449, where neither was
    /// checked).
    private static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, raw[..<32].contains(where: { $0 != 0 }), raw[32...].contains(where: { $0 != 0 }),
            let signature = unsafe ECDSA_SIG_new()
        else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let (first, second) = (Array(raw[..<32]), Array(raw[32...]))
        let r = unsafe BN_bin2bn(first, 32, nil)
        let s = unsafe BN_bin2bn(second, 32, nil)
        // On success the signature owns both numbers; on failure they still belong to this function.
        guard unsafe r != nil, unsafe s != nil, unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        // A sequence of two integers of at most 33 bytes each.
        var der = [UInt8](repeating: 0, count: 80)
        let count = unsafe i2d_ECDSA_SIG(signature, nil)
        guard count > 0 && Int(count) <= der.count else { return nil }
        unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe i2d_ECDSA_SIG(signature, &cursor)
        }
        return Array(der.prefix(Int(count)))
    }

    /// The 64 bytes r and s of a DER signature.
    private static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        let read = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        guard let signature = unsafe read else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var first = [UInt8](repeating: 0, count: 32)
        var second = first
        guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), &first, 32) == 32,
            unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), &second, 32) == 32
        else { return nil }
        return first + second
    }
}
