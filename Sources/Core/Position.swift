/// The position of an event or a client in a topic's log.
///
/// Offsets are comparable only within one epoch. A new epoch begins whenever the log may have been cut or rolled back,
/// so that no pair (epoch, offset) ever names two events.
public struct Position: Hashable, Sendable {
    /// The epoch of the log; 1...32 bytes of `[A-Za-z0-9_-]`.
    public let epoch: [UInt8]
    /// The number of the last event seen, 0 before the first.
    public let offset: Int

    /// The most bytes an epoch may have.
    public static let epochBytesMax = 32

    /// Makes a position; `nil` when the epoch is out of its grammar or the offset negative.
    public init?(epoch: some Collection<UInt8>, offset: Int) {
        guard Position.isEpoch(epoch), offset >= 0 else { return nil }
        self.epoch = Array(epoch)
        self.offset = offset
    }

    /// Reads the form `EPOCH:OFFSET`; `nil` for any other text.
    public init?(_ text: some BidirectionalCollection<UInt8>) {
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")),
            let offset = ASCII.decimal(text[text.index(after: colon)...])
        else { return nil }
        self.init(epoch: text[..<colon], offset: offset)
    }

    /// The position as `EPOCH:OFFSET`.
    public var text: [UInt8] {
        var text = epoch
        text.append(UInt8(ascii: ":"))
        text.append(decimal: offset)
        return text
    }

    /// The last known event in the form for scripts: epoch, space, offset.
    public var fenceText: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(epoch.count + 20)
        appendFence(to: &text)
        return text
    }

    /// Appends ``fenceText``.
    public func appendFence(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: epoch)
        bytes.append(UInt8(ascii: " "))
        bytes.append(decimal: offset)
    }

    /// Whether a log that ends here has, or had, the event at that position of its epoch; `true` for `nil`.
    public func includes(_ event: Position?) -> Bool {
        guard let event else { return true }
        return event.epoch == epoch && event.offset <= offset
    }

    /// Whether the bytes are `[A-Za-z0-9_-]{1,32}`.
    public static func isEpoch(_ bytes: some Collection<UInt8>) -> Bool {
        let count = bytes.count
        guard count >= 1 && count <= epochBytesMax else { return false }
        return bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
    }
}
