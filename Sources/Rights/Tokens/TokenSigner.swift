import Core

/// Signs tokens: for `switchboard token`, for `dev`, and for tests.
///
/// Immutable and thread-safe.
public struct TokenSigner: Sendable {
    private let material: TokenKey.Material
    private let keyID: [UInt8]?

    /// The algorithm of the key.
    public var algorithm: TokenAlgorithm { material.algorithm }

    /// Signs HS256 with the content of a secret file; the rules are those of ``TokenKeys/addSecret(_:keyID:issuer:)``.
    public init(secretFile file: [UInt8], keyID: [UInt8]? = nil) throws(RightsProblem) {
        self.material = .secret(try Secret(file: file))
        self.keyID = try TokenSigner.checked(keyID)
    }

    /// Signs RS256, ES256 or EdDSA with the one unencrypted private key of a PEM text.
    public init(privateKeyPEM file: [UInt8], keyID: [UInt8]? = nil) throws(RightsProblem) {
        // `openssl ecparam -genkey` writes the curve in a block of its own in front of the key.
        let blocks = try PEM.blocks(file).filter { $0.label != Array("EC PARAMETERS".utf8) }
        guard blocks.count == 1, let block = blocks.first else { throw .pem("must hold exactly one private key") }
        let labels = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
        guard labels.contains(where: { block.label == Array($0.utf8) }) else {
            throw .pem("not an unencrypted private key")
        }
        self.material = .asymmetric(try AsymmetricKey(privateDER: block.der))
        self.keyID = try TokenSigner.checked(keyID)
    }

    /// The token: compact JWS, ASCII.
    public func sign(_ claims: TokenClaims) throws(RightsProblem) -> [UInt8] {
        try sign(payload: claims.json)
    }

    /// Signs claims for other readers than gateways, the text of a JSON object.
    public func sign(payload: [UInt8]) throws(RightsProblem) -> [UInt8] {
        var header: [UInt8] = []
        header.append(text: "{\"alg\":\"\(algorithm.rawValue)\",\"typ\":\"JWT\"")
        if let keyID { header.append(member: "kid", string: keyID) }
        header.append(UInt8(ascii: "}"))
        return try sign(header: header, payload: payload)
    }

    /// Signs any header and payload, valid or not.
    func sign(header: [UInt8], payload: [UInt8]) throws(RightsProblem) -> [UInt8] {
        try sign(Base64.encode(header, .url) + [UInt8(ascii: ".")] + Base64.encode(payload, .url))
    }

    /// Appends the signature of the bytes to them.
    func sign(_ message: [UInt8]) throws(RightsProblem) -> [UInt8] {
        let signature: [UInt8] =
            switch material {
            case .secret(let secret): OpenSSLHash.hmacSHA256(key: secret.bytes, message[...])
            case .asymmetric(let key): try key.sign(message)
            }
        return message + [UInt8(ascii: ".")] + Base64.encode(signature, .url)
    }

    private static func checked(_ keyID: [UInt8]?) throws(RightsProblem) -> [UInt8]? {
        guard let keyID else { return nil }
        guard !keyID.isEmpty, keyID.count <= TokenKeys.keyIDBytesMax, UTF8Text.isValid(keyID) else {
            throw .keyID("must be UTF-8 of 1 to \(TokenKeys.keyIDBytesMax) bytes")
        }
        return keyID
    }
}
