public import Dialects
public import Reactors

/// The encodings that sessions of a shard may have: each pair of encoder and framing once.
///
/// Thread: the shard's.
public final class EncodingTable {
    private struct Name: Hashable {
        let encoder: String
        let framing: Framing
    }

    private var encodings: [Name: Encoding] = [:]
    private let written: Counter
    private let deflation: Deflation

    /// `written` counts the events of all encodings; `deflation` serves those of clients that agreed on it.
    public init(written: Counter, deflation: Deflation) {
        self.written = written
        self.deflation = deflation
    }

    /// The encoding of an encoder on a transport of that framing.
    public func encoding(_ encoder: any EventEncoder, _ framing: Framing) -> Encoding {
        let name = Name(encoder: encoder.name, framing: framing)
        if let encoding = encodings[name] { return encoding }
        if case .webSocketDeflated(let window) = framing {
            let plain = self.encoding(encoder, .webSocket)
            let encoding = Encoding(number: encodings.count, deflating: plain, deflation, window)
            encodings[name] = encoding
            return encoding
        }
        let encoding = Encoding(number: encodings.count, encoder: encoder, framing: framing, written: written)
        encodings[name] = encoding
        return encoding
    }
}

@available(*, unavailable)
extension EncodingTable: Sendable {}
