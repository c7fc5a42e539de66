import Core
import Dialects
import Rights

/// What a peer needs of its shard.
///
/// Thread: the shard's.
protocol PeerHost: SessionHost {
    /// Who comes in when a door is opened: whoever shows the token, or who opened the connection.
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal>
    /// How events are written that way on that line.
    func encoding(_ encoder: any EventEncoder, _ framing: Framing) -> Encoding
}
