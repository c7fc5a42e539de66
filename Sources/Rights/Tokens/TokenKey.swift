/// One key that tokens may be signed with, and the one algorithm it allows.
struct TokenKey: Sendable {
    /// What verifies.
    enum Material: Sendable {
        case secret(Secret)
        case asymmetric(AsymmetricKey)
    }

    /// The `kid` it answers to; `nil`: an unnamed key.
    let id: [UInt8]?
    /// The only `iss` whose tokens it may sign; `nil`: any that the rules accept.
    let issuer: [UInt8]?
    let material: Material

    var algorithm: TokenAlgorithm {
        switch material {
        case .secret: .hs256
        case .asymmetric(let key): key.algorithm
        }
    }

    func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .secret(let secret):
            OpenSSLHash.equal(OpenSSLHash.hmacSHA256(key: secret.bytes, message), signature)
        case .asymmetric(let key):
            key.verifies(signature, of: message)
        }
    }
}
