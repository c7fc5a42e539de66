import Core
import Dialects
import Rights

/// The services that a peer needs of its shard.
///
/// Thread: the shard's.
protocol PeerHost: SessionHost {
    /// The caller of a new session: the owner of the token, or the caller that opened the connection.
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal>
    /// The encoding for an encoder and a transport's framing.
    func encoding(_ encoder: any EventEncoder, _ framing: Framing) -> Encoding
}
