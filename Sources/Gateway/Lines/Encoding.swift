import Core
import Dialects
import Reactors

/// One way in which events reach clients of a shard: an encoder and a framing, known by a small number.
///
/// Sessions of one encoding are sent the same bytes. Thread: the shard's.
final class Encoding {
    /// Its place in the shard's ``EncodingTable``.
    let number: Int
    private let encoder: any EventEncoder
    let framing: Framing
    /// How many events were written in it.
    let written: Counter

    init(number: Int, encoder: any EventEncoder, framing: Framing, written: Counter) {
        self.number = number
        self.encoder = encoder
        self.framing = framing
        self.written = written
    }

    /// The bytes of an event; empty where the dialect cannot say it.
    func frame(_ topic: Topic, _ message: ChannelMessage) -> [UInt8] {
        written.add(1)
        return framing.frame(encoder.event(topic, message))
    }

    /// The bytes that tell of a gap.
    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [UInt8] {
        framing.frame(encoder.gap(topic, position, reason))
    }
}
