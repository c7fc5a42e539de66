import Core
import Reactors
import Rights

/// Who may still do what: tokens are judged against what was revoked, and shards are told of changes.
extension Node {
    /// Tells whose token it is, or why it is refused.
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

    /// Refuses nobody in particular where everybody must say who it is.
    func unlessAnonymous(_ caller: Caller) -> Result<Caller, Refusal> {
        guard caller.isAnonymous && !allowsAnonymous else { return .success(caller) }
        return .failure(Refusal(.unauthorized, "a token is needed"))
    }

    private func failure(of identity: Identity) -> TokenFailure? {
        revocations.withLock { $0.failure(for: identity) }
    }

    /// Whether everything that was revoked before this node began is known here.
    var knowsEveryRevocation: Bool { revocations.withLock { $0.isComplete } }

    /// Everything that was revoked has been read.
    func readEveryRevocation() { revocations.withLock { $0.isComplete = true } }

    /// Refuses what was revoked, from now on, at every door.
    func remember(_ more: [Revocation]) {
        guard !more.isEmpty else { return }
        revocations.withLock { list in
            for revocation in more { list.add(revocation) }
        }
    }

    /// Forgets revocations of tokens that have expired by themselves.
    func forgetRevocations(now: Int) { revocations.withLock { $0.forget(now: now) } }

    /// Lets every shard look at its sessions; false when one of them could not be told.
    func tellShards(_ change: RightsChange) -> Bool {
        change.isEmpty || shards.allSatisfy { $0.send(.rights(change)) }
    }
}
