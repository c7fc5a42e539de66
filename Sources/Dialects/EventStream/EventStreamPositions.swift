public import Core

/// The position of each topic of a stream, as the text of `id` and `Last-Event-ID`.
///
/// `EPOCH:OFFSET` for each topic in the order in which the request names them, joined by commas; `-` for an unknown
/// position. Epochs contain neither colon nor comma.
public struct EventStreamPositions: Equatable, Sendable {
    /// The positions by the number of the topic; `nil` for an unknown one.
    public private(set) var positions: [Position?]

    /// Unknown positions for `count` topics.
    public init(count: Int) {
        positions = Array(repeating: nil, count: count)
    }

    /// Reads the text for `count` topics; `nil` when it is malformed.
    public init?(_ text: [UInt8], count: Int) {
        let parts = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        positions = []
        for part in parts {
            if part.elementsEqual("-".utf8) {
                positions.append(nil)
                continue
            }
            let pieces = part.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard pieces.count == 2, let offset = ASCII.decimal(pieces[1]),
                let position = Position(epoch: pieces[0], offset: offset)
            else { return nil }
            positions.append(position)
        }
    }

    /// Sets a topic's position; `false` when it is unchanged.
    mutating func set(_ index: Int, _ position: Position) -> Bool {
        guard positions[index] != position else { return false }
        positions[index] = position
        return true
    }

    /// The text.
    var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(positions.count * 24)
        for (index, position) in positions.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            if let position {
                text.append(contentsOf: EventStreamPositions.text(position))
            } else {
                text.append(UInt8(ascii: "-"))
            }
        }
        return text
    }

    static func text(_ position: Position) -> [UInt8] {
        var text = position.epoch
        text.append(UInt8(ascii: ":"))
        text.append(decimal: position.offset)
        return text
    }
}
