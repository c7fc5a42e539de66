public import Core
public import Dialects
import Reactors
import WebSocketCodec

/// A form in which events reach clients: an encoder and a framing, with a small number.
///
/// Sessions of one encoding share the same bytes. Thread: the shard's.
public final class Encoding {
    /// Its place in the ``EncodingTable``.
    public let number: Int
    /// The name of its encoder, which names the dialect.
    public let name: [UInt8]
    private let encoder: any EventEncoder
    let framing: Framing
    /// Counts the events written in it.
    let written: Counter
    /// The encoding that it deflates; `nil` for one that is written by its encoder alone.
    private let deflates: (plain: Encoding, deflation: Deflation, window: DeflateAgreement.Window)?

    init(number: Int, encoder: any EventEncoder, framing: Framing, written: Counter) {
        self.number = number
        name = Array(encoder.name.utf8)
        self.encoder = encoder
        self.framing = framing
        self.written = written
        deflates = nil
    }

    /// The deflated form of another encoding.
    init(number: Int, deflating plain: Encoding, _ deflation: Deflation, _ window: DeflateAgreement.Window) {
        self.number = number
        name = plain.name
        encoder = plain.encoder
        framing = .webSocketDeflated(window)
        written = plain.written
        deflates = (plain, deflation, window)
    }

    /// The encoding that this one deflates; itself when it does not.
    public var plain: Encoding { deflates?.plain ?? self }

    /// Deflates the output of ``plain``; the same bytes where that saves none.
    func deflated(_ frame: [UInt8]) -> [UInt8] {
        guard let (_, deflation, window) = deflates else { return frame }
        let deflated = deflation.deflated(frame, window)
        if deflated.count < frame.count { written.add(1) }
        return deflated
    }

    /// The bytes of an event; empty where the dialect cannot express it.
    func frame(_ topic: Topic, _ message: ChannelMessage) -> [UInt8] {
        written.add(1)
        return framing.frame(encoder.event(topic, message))
    }

    /// The units of an event for one client, which adds to it.
    public func units(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        encoder.event(topic, message)
    }

    /// The units of a presence change for one client, which somebody watches.
    func units(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] {
        encoder.presence(topic, change)
    }

    /// The bytes of a presence change; empty where the dialect cannot express it.
    func frame(_ topic: Topic, _ change: PresenceChange) -> [UInt8] {
        framing.frame(encoder.presence(topic, change))
    }

    /// The members present, for the dialect machine to send; `nil` where the dialect cannot express it.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? {
        encoder.presence(topic, members)
    }

    /// The bytes of a gap.
    public func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [UInt8] {
        framing.frame(encoder.gap(topic, position, reason))
    }
}
