public import Core
public import Rights

/// The identity of callers, for peers and sessions.
///
/// Thread: the shard's.
public protocol CallerAccess: AnyObject {
    /// Checks a token.
    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure>
    /// The caller of a new session: the owner of the token, or the caller that opened the connection.
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal>
    /// The payer whose budget is charged for a caller at an address.
    func payer(_ caller: Caller, at address: IPAddress?) -> Payer
}
