import Core
import Reactors
import Rights

/// Rights: tokens are checked against revocations, and shards are notified of changes.
extension Node {
    /// The identity of a token, or the reason for its refusal.
    func verify(_ token: [UInt8], now: Int) -> Result<Identity, TokenFailure> {
        rights.authenticator.verifier.verify(token, now: now).flatMap { identity in
            failure(of: identity).map { .failure($0) } ?? .success(identity)
        }
    }

    /// Refuses a caller whose token was revoked.
    func unlessRevoked(_ caller: Caller) -> Result<Caller, Refusal> {
        guard case .user(let identity) = caller, let failure = failure(of: identity) else { return .success(caller) }
        return .failure(failure.refusal)
    }

    /// Rejects the anonymous caller when the gateway requires a token.
    func unlessAnonymous(_ caller: Caller) -> Result<Caller, Refusal> {
        guard caller.isAnonymous && !allowsAnonymous else { return .success(caller) }
        return .failure(Refusal(.unauthorized, "a token is needed"))
    }

    private func failure(of identity: Identity) -> TokenFailure? {
        revocations.withLock { $0.failure(for: identity) }
    }

    /// Whether every revocation made before this node began is known here.
    var knowsEveryRevocation: Bool { revocations.withLock { $0.isComplete } }

    /// Notes that every revocation has been read.
    func readEveryRevocation() { revocations.withLock { $0.isComplete = true } }

    /// Refuses revoked tokens, from now on, on every listener.
    func remember(_ more: [Revocation]) {
        guard !more.isEmpty else { return }
        revocations.withLock { list in
            for revocation in more { list.add(revocation) }
        }
    }

    /// Forgets revocations of tokens that have expired by themselves.
    func forgetRevocations(now: Int) { revocations.withLock { $0.forget(now: now) } }

    /// Makes every shard check its sessions; false when one of them could not be notified.
    func tellShards(_ change: RightsChange) -> Bool {
        change.isEmpty || shards.allSatisfy { $0.send(.rights(change)) }
    }
}
