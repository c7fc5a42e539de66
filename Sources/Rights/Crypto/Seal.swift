import COpenSSL

/// Authenticated encryption under one key: AES-256-GCM (NIST SP 800-38D).
///
/// A text that opens was written by a holder of the key, with that head and that number; nobody else can read it. A
/// number must never be used twice under one key. A failure to seal means that libcrypto is broken or memory has run
/// out, hence the precondition; it does not depend on input. Thread-safe.
public struct Seal: Sendable {
    /// Bytes of a key.
    public static let keyBytes = 32
    /// Bytes that sealing adds.
    public static let tagBytes = 16

    private let key: [UInt8]

    /// Takes a key of ``keyBytes``.
    public init(key: [UInt8]) {
        precondition(key.count == Seal.keyBytes, "an AES-256 key has 32 bytes")
        self.key = key
    }

    /// Encrypts a text; `head` is not encrypted and not contained, but must be the same when it is opened.
    public func seal(_ text: [UInt8], number: UInt64, head: [UInt8]) -> [UInt8] {
        let nonce = Seal.nonce(number)
        var sealed = [UInt8](repeating: 0, count: text.count + Seal.tagBytes)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var written: Int32 = 0
        var isDone = unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
        isDone = unsafe isDone && EVP_EncryptUpdate(context, nil, &written, head, Int32(head.count)) == 1
        isDone = unsafe isDone && EVP_EncryptUpdate(context, &sealed, &written, text, Int32(text.count)) == 1
        unsafe sealed.withUnsafeMutableBufferPointer { output in
            guard let tag = unsafe output.baseAddress.map({ unsafe $0 + text.count }) else { return }
            isDone = unsafe isDone && EVP_EncryptFinal_ex(context, tag, &written) == 1
            isDone =
                unsafe isDone
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Seal.tagBytes), tag) == 1
        }
        precondition(isDone, "libcrypto cannot encrypt")
        return sealed
    }

    /// Decrypts; `nil` for anything that was not sealed under this key with this number and head.
    public func open(_ sealed: ArraySlice<UInt8>, number: UInt64, head: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard sealed.count >= Seal.tagBytes, sealed.count <= Int(Int32.max), head.count <= Int(Int32.max),
            let context = unsafe EVP_CIPHER_CTX_new()
        else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let nonce = Seal.nonce(number)
        let cipher = Array(sealed.dropLast(Seal.tagBytes))
        var tag = Array(sealed.suffix(Seal.tagBytes))
        // One byte more than needed, so that an empty text has an address, too.
        var text = [UInt8](repeating: 0, count: cipher.count + 1)
        var written: Int32 = 0
        guard unsafe EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            unsafe EVP_DecryptUpdate(context, nil, &written, head, Int32(head.count)) == 1,
            unsafe EVP_DecryptUpdate(context, &text, &written, cipher, Int32(cipher.count)) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Seal.tagBytes), &tag) == 1
        else { return nil }
        var rest = [UInt8](repeating: 0, count: Seal.tagBytes)
        guard unsafe EVP_DecryptFinal_ex(context, &rest, &written) == 1 else { return nil }
        text.removeLast()
        return text
    }

    private static func nonce(_ number: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }
}
