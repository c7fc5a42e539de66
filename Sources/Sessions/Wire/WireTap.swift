import Connections
public import Core
import Dialects

/// Records what passes on the wire of one connection, while an operator watches it.
///
/// Messages are noted when they are queued; what a slow client then loses is noted, too. Credentials are replaced
/// before anything is kept. Bounded in messages and bytes: what comes while the operator does not read is counted.
/// Thread: the shard's.
public final class WireTap {
    /// The way of a message.
    public enum Direction: String {
        /// From the client.
        case received = "in"
        /// To the client.
        case sent = "out"
    }

    /// The form of a message; the raw value is its word in answers.
    public enum Kind: String {
        case text, binary, ping, pong, close
        /// Newer events took the place of waiting ones.
        case conflated
        /// Waiting events were dropped, since the client reads too slowly.
        case dropped
    }

    /// The cause of an end.
    public enum End: Equatable {
        /// Its time is over.
        case time
        /// The operator has ended it.
        case asked
        /// Another tap of the connection took its place.
        case replaced
        /// The user's data were erased.
        case erased
        /// The connection has ended.
        case closed(CloseReason)

        /// Its word in answers and in the log.
        public var word: String {
            switch self {
            case .time: "time"
            case .asked: "asked"
            case .replaced: "replaced"
            case .erased: "erased"
            case .closed(let reason): reason.rawValue
            }
        }
    }

    /// A message that has passed.
    public struct Frame {
        /// Its number, from 1.
        public let number: Int
        /// When it passed, milliseconds since 1970.
        public let wallMs: Int
        /// Its way.
        public let direction: Direction
        /// Its form.
        public let kind: Kind
        /// The bytes of its payload, before compression.
        public let byteCount: Int
        /// Its text without credentials; `nil` for bytes that are no text.
        public let text: [UInt8]?
        /// Whether the text is only the beginning.
        public let isCut: Bool
    }

    /// The messages that the operator has not read.
    public private(set) var frames: [Frame] = []
    /// The number of the newest message.
    public private(set) var count = 0
    /// Messages that were not kept, since too many waited.
    public private(set) var leftOut = 0
    /// The cause of its end; `nil` while it records.
    public private(set) var end: End?
    private var byteCount = 0
    /// Whether the end of the connection has begun: what is sent now is dropped.
    private var isClosing = false
    private let wallMs: () -> Int
    private weak var peer: Peer?
    private let ended: (WireTap) -> Void

    /// Bytes of a text that are kept.
    public static let textBytesMax = 2_048
    /// Bytes of texts that wait for the operator.
    static let bytesMax = 262_144
    /// Messages that wait for the operator.
    static let framesMax = 2_000

    /// A tap that records nothing yet; `ended` is called once, with it.
    public init(wallMs: @escaping () -> Int, ended: @escaping (WireTap) -> Void) {
        self.wallMs = wallMs
        self.ended = ended
    }

    /// Ends it: nothing more is recorded, and what waits can still be read.
    public func end(_ cause: End) {
        guard end == nil else { return }
        end = cause
        peer?.remove(self)
        ended(self)
    }

    /// Forgets the messages up to a number, which the operator has read.
    public func forget(through number: Int) {
        let read = frames.firstIndex { $0.number > number } ?? frames.count
        byteCount -= frames[..<read].reduce(0) { $0 + ($1.text?.count ?? 0) }
        frames.removeSubrange(..<read)
    }

    /// Forgets every message.
    public func forgetAll() { forget(through: Int.max) }

    // MARK: From the connection

    func began(on peer: Peer) { self.peer = peer }

    /// Notes a message of the client or to it.
    func note(_ direction: Direction, _ kind: Kind, _ payload: [UInt8]) {
        guard end == nil, !(isClosing && direction == .sent) else { return }
        count += 1
        guard frames.count < WireTap.framesMax, byteCount < WireTap.bytesMax else {
            leftOut += 1
            return
        }
        var shown: (text: [UInt8], isCut: Bool)?
        if kind != .binary {
            let (text, isCut) = WireRedaction.text(payload, bytesMax: WireTap.textBytesMax)
            // The payload of a ping may be anything.
            shown = (Array(String(decoding: text, as: UTF8.self).utf8), isCut)
        }
        frames.append(
            Frame(
                number: count, wallMs: wallMs(), direction: direction, kind: kind, byteCount: payload.count,
                text: shown?.text, isCut: shown?.isCut ?? false))
        byteCount += shown?.text.count ?? 0
    }

    func note(_ direction: Direction, _ unit: WireUnit) {
        note(direction, unit.kind == .text ? .text : .binary, unit.bytes)
    }

    /// Notes the units of an event, with the bytes that were added for this client.
    func sent(_ units: [WireUnit], _ own: EventDecoration?) {
        switch own {
        case .instead(let own): for unit in own { note(.sent, unit) }
        case .before(let mark): for unit in [mark] + units { note(.sent, unit) }
        case nil: for unit in units { note(.sent, unit) }
        }
    }

    /// Notes that newer events took the place of waiting ones.
    func conflated(_ replaced: [Topic: ReplacedEvents]) {
        for (topic, events) in replaced {
            let offsets = events.ranges.map { range in
                range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
            }
            note(.sent, .conflated, Array("\(topic): \(offsets.joined(separator: ", "))".utf8))
        }
    }

    /// Notes what a client that reads too slowly never gets.
    func dropped(_ waiting: [OutboundItem]) {
        let positions = waiting.firstPositions.map { "\($0) from \($1.offset)" }.sorted()
        note(.sent, .dropped, Array("\(waiting.count) waiting: \(positions.joined(separator: ", "))".utf8))
    }

    /// Notes that the gateway ends the connection; a slow client gets no more of what waits.
    func closes(_ reason: CloseReason) {
        note(.sent, .close, Array(reason.rawValue.utf8))
        isClosing = true
    }
}
