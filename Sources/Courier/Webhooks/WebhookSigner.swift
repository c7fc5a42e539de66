import Core
import Rights

/// Signs webhooks by the specification of Standard Webhooks, version `v1`: HMAC-SHA256 of `ID.TIMESTAMP.BODY`.
struct WebhookSigner: Sendable {
    /// The reason why a file of secrets cannot be used.
    struct Fault: Error {
        /// A sentence without the secret.
        let reason: String
    }

    private let secrets: [[UInt8]]

    /// Reads one secret a line, `whsec_` and the base64 of 24 to 64 bytes.
    ///
    /// All of them sign, so that a receiver can change from one to the next.
    init(file: [UInt8]) throws(Fault) {
        var secrets: [[UInt8]] = []
        for line in file.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            guard line.starts(with: Array("whsec_".utf8)), let key = Base64.decode(Array(line.dropFirst(6)), .standard),
                (24...64).contains(key.count)
            else { throw Fault(reason: "expected lines of whsec_ and the base64 of 24 to 64 random bytes") }
            secrets.append(key)
        }
        guard (1...4).contains(secrets.count) else { throw Fault(reason: "expected one to four secrets, one a line") }
        self.secrets = secrets
    }

    /// The value of `webhook-signature`: a signature for each secret, separated by spaces.
    func signature(id: String, timestamp: Int, body: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        return secrets.map { secret in
            "v1," + String(decoding: Base64.encode(Digest.hmacSHA256(key: secret, signed), .standard), as: UTF8.self)
        }.joined(separator: " ")
    }
}
