/// One key that tokens may be signed with, and the one algorithm it allows.
struct TokenKey: Sendable {
    /// The material that verifies signatures, or makes them.
    enum Material: Sendable {
        case secret(Secret)
        case asymmetric(AsymmetricKey)

        var algorithm: TokenAlgorithm {
            switch self {
            case .secret: .hs256
            case .asymmetric(let key): key.algorithm
            }
        }
    }

    /// The key's `kid`; `nil`: an unnamed key.
    let id: [UInt8]?
    /// The only `iss` whose tokens it may sign; `nil`: any that the rules accept.
    let issuer: [UInt8]?
    let material: Material
    /// A mark that distinguishes the key by everything that decides about tokens: id, issuer and key material.
    ///
    /// A session stores it instead of its token. Eight bytes of a digest reveal nothing of a secret of 32 bytes or
    /// more.
    let mark: UInt64

    init(id: [UInt8]?, issuer: [UInt8]?, material: Material) {
        self.id = id
        self.issuer = issuer
        self.material = material
        let secret: [UInt8] =
            switch material {
            case .secret(let secret): secret.bytes
            case .asymmetric(let key): key.publicDER
            }
        var text: [UInt8] = []
        for part in [id, issuer, secret] {
            // Digests have one length, so no two lists of parts give the same text.
            text += Digest.sha256(part ?? [])
            text.append(part == nil ? 0 : 1)
        }
        mark = Digest.sha256(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    var algorithm: TokenAlgorithm { material.algorithm }

    func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .secret(let secret):
            OpenSSLHash.equal(OpenSSLHash.hmacSHA256(key: secret.bytes, message), signature)
        case .asymmetric(let key):
            key.verifies(signature, of: message)
        }
    }
}
