import Core
import Reactors
import Rights

/// Proves to every node of one Redis that one of them has written something for a client to keep.
///
/// Locked when a client enters a namespace and asks for it, never for a delivered message. Thread: any.
public final class SessionProofs: Sendable {
    private let key = Guarded<[UInt8]>([])
    private static let proofBytes = 12

    /// Proofs that are empty until the secret is known.
    public init() {}

    /// Takes the secret of all nodes.
    public func use(_ secret: [UInt8]) {
        let derived = Digest.hmacSHA256(key: secret, "client state".utf8)
        key.withLock { $0 = derived }
    }

    /// The proof, base64url; empty while the secret is not known.
    func prove(_ bytes: [UInt8]) -> [UInt8] {
        let key = key.withLock { $0 }
        guard !key.isEmpty else { return [] }
        return Base64.encode(Digest.hmacSHA256(key: key, bytes).prefix(SessionProofs.proofBytes), .url)
    }
}
