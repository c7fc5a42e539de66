import Core
import Dialects
import Rights

/// What a peer needs of its shard.
///
/// Thread: the shard's.
protocol PeerHost: SessionHost {
    /// Who shows that token when a door is opened.
    func judge(_ token: [UInt8]) -> Result<Caller, Refusal>
    /// How events are written that way on that line.
    func encoding(_ encoder: any EventEncoder, _ framing: Framing) -> Encoding
}
