import Core
import Dialects
import Reactors
import WebSocketCodec

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
    /// What it deflates; `nil` for one that is written by its encoder alone.
    private let deflates: (plain: Encoding, deflation: Deflation, window: DeflateAgreement.Window)?

    init(number: Int, encoder: any EventEncoder, framing: Framing, written: Counter) {
        self.number = number
        self.encoder = encoder
        self.framing = framing
        self.written = written
        deflates = nil
    }

    /// What another encoding writes, deflated.
    init(number: Int, deflating plain: Encoding, _ deflation: Deflation, _ window: DeflateAgreement.Window) {
        self.number = number
        encoder = plain.encoder
        framing = .webSocketDeflated(window)
        written = plain.written
        deflates = (plain, deflation, window)
    }

    /// The encoding that this one deflates; itself when it does not.
    var plain: Encoding { deflates?.plain ?? self }

    /// Deflates what ``plain`` wrote; the same bytes where that saves none.
    func deflated(_ frame: [UInt8]) -> [UInt8] {
        guard let (_, deflation, window) = deflates else { return frame }
        let deflated = deflation.deflated(frame, window)
        if deflated.count < frame.count { written.add(1) }
        return deflated
    }

    /// The bytes of an event; empty where the dialect cannot say it.
    func frame(_ topic: Topic, _ message: ChannelMessage) -> [UInt8] {
        written.add(1)
        return framing.frame(encoder.event(topic, message))
    }

    /// An event for one client, who will add to it.
    func units(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        encoder.event(topic, message)
    }

    /// The bytes that tell who came and who left; empty where the dialect cannot say it.
    func frame(_ topic: Topic, _ change: PresenceChange) -> [UInt8] {
        framing.frame(encoder.presence(topic, change))
    }

    /// Who is here, for the conversation to say; `nil` where the dialect cannot.
    func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? {
        encoder.presence(topic, members)
    }

    /// The bytes that tell of a gap.
    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [UInt8] {
        framing.frame(encoder.gap(topic, position, reason))
    }
}
