public import Core

/// The position of each topic of a stream, as the text of `id` and `Last-Event-ID`.
///
/// `EPOCH:OFFSET` for each topic in the order in which the request names them, joined by commas; `-` for an unknown
/// position. Epochs contain neither colon nor comma.
public struct EventStreamPositions: Equatable, Sendable {
    /// The positions by the number of the topic; `nil` for an unknown one.
    public private(set) var positions: [Position?]

    /// The positions that requests begin at.
    init(_ requests: [SubscribeRequest]) {
        positions = requests.map(\.since)
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
            guard let position = Position(part) else { return nil }
            positions.append(position)
        }
    }

    /// Sets a topic's position.
    mutating func set(_ index: Int, _ position: Position) {
        positions[index] = position
    }

    /// The text.
    var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(positions.count * 24)
        for (index, position) in positions.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            if let position {
                text.append(contentsOf: position.text)
            } else {
                text.append(UInt8(ascii: "-"))
            }
        }
        return text
    }
}
