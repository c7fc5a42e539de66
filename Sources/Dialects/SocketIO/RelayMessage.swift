import Core

/// The messages between two nodes about a polling session: one node relays its client's requests, the other owns the
/// session.
///
/// Written as `LETTER[ WORD...]`, and for packets and bodies a line end and the bytes. A request has a number that its
/// answer repeats. The reader knows which node wrote a message; the bytes are checked all the same.
public enum RelayMessage: Equatable, Sendable {
    /// The answer to a request.
    public enum Answer: Equatable, Sendable {
        /// Packets for the client.
        case packets([UInt8])
        /// The client's packets were accepted.
        case taken
        /// A packet is too large.
        case tooLarge
        /// The node cannot accept the request now.
        case busy
        /// The request is refused with this Engine.IO code.
        case fault(Int)
    }

    /// The client fetches its waiting packets.
    case fetch(number: Int, session: [UInt8])
    /// The client sends packets.
    case send(number: Int, session: [UInt8], body: [UInt8])
    /// A fetch is to be answered now, even with no packets: the node that relays it is shutting down.
    case release(number: Int, session: [UInt8])
    /// The client disconnected before its answer.
    case abandoned(number: Int, session: [UInt8])
    /// The answer to a request.
    case answer(number: Int, Answer)
    /// The node holds these fetches until it has packets for them.
    case held([Int])
    /// These fetches have waited for long; the node answers those that it no longer holds, since their answers were
    /// lost.
    case waits([Int])
    /// The packets that answered these fetches were sent to their clients.
    case received([Int])
    /// A question whether the other node is alive.
    case asks
    /// The answer to ``asks``.
    case lives

    /// The most numbers in one message.
    public static let numbersMax = 1_024
    private static let sessionBytesMax = 128
    private static let faultMax = 5

    // MARK: Writing

    /// The message.
    public var bytes: [UInt8] {
        switch self {
        case .fetch(let number, let session): RelayMessage.written("F", [number], session)
        case .send(let number, let session, let body): RelayMessage.written("S", [number], session, body: body)
        case .release(let number, let session): RelayMessage.written("R", [number], session)
        case .abandoned(let number, let session): RelayMessage.written("X", [number], session)
        case .answer(let number, .packets(let packets)): RelayMessage.written("P", [number], body: packets)
        case .answer(let number, .taken): RelayMessage.written("T", [number])
        case .answer(let number, .tooLarge): RelayMessage.written("L", [number])
        case .answer(let number, .busy): RelayMessage.written("B", [number])
        case .answer(let number, .fault(let code)): RelayMessage.written("E", [number, code])
        case .held(let numbers): RelayMessage.written("H", numbers)
        case .waits(let numbers): RelayMessage.written("W", numbers)
        case .received(let numbers): RelayMessage.written("K", numbers)
        case .asks: RelayMessage.written("Q", [])
        case .lives: RelayMessage.written("A", [])
        }
    }

    private static func written(
        _ letter: StaticString, _ numbers: [Int], _ session: [UInt8]? = nil, body: [UInt8]? = nil
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24 + (session?.count ?? 0) + (body?.count ?? 0))
        text.append(text: letter)
        for number in numbers {
            text.append(UInt8(ascii: " "))
            text.append(decimal: number)
        }
        if let session {
            text.append(UInt8(ascii: " "))
            text.append(contentsOf: session)
        }
        if let body {
            text.append(UInt8(ascii: "\n"))
            text.append(contentsOf: body)
        }
        return text
    }

    // MARK: Reading

    /// Reads a message; `nil` when it is malformed.
    public init?(parsing message: [UInt8]) {
        let line = message.prefix { $0 != UInt8(ascii: "\n") }
        let body = line.count < message.count ? Array(message[(line.endIndex + 1)...]) : nil
        let words = line.split(
            separator: UInt8(ascii: " "), maxSplits: RelayMessage.numbersMax + 1, omittingEmptySubsequences: false)
        guard let letter = words.first, letter.count == 1, let kind = letter.first else { return nil }
        let relay =
            body.map { RelayMessage.relay(kind, words.dropFirst(), body: $0) }
            ?? RelayMessage.relay(kind, words.dropFirst())
        guard let relay else { return nil }
        self = relay
    }

    private static func relay(_ kind: UInt8, _ words: ArraySlice<ArraySlice<UInt8>>, body: [UInt8]) -> RelayMessage? {
        guard let number = words.first.flatMap({ ASCII.decimal($0) }) else { return nil }
        switch kind {
        case UInt8(ascii: "S"): return session(words).map { .send(number: number, session: $0, body: body) }
        case UInt8(ascii: "P"): return words.count == 1 ? .answer(number: number, .packets(body)) : nil
        default: return nil
        }
    }

    private static func relay(_ kind: UInt8, _ words: ArraySlice<ArraySlice<UInt8>>) -> RelayMessage? {
        switch kind {
        case UInt8(ascii: "H"): return numbers(words).map { .held($0) }
        case UInt8(ascii: "W"): return numbers(words).map { .waits($0) }
        case UInt8(ascii: "K"): return numbers(words).map { .received($0) }
        case UInt8(ascii: "Q"): return words.isEmpty ? .asks : nil
        case UInt8(ascii: "A"): return words.isEmpty ? .lives : nil
        default: break
        }
        guard let number = words.first.flatMap({ ASCII.decimal($0) }) else { return nil }
        switch kind {
        case UInt8(ascii: "F"): return session(words).map { .fetch(number: number, session: $0) }
        case UInt8(ascii: "R"): return session(words).map { .release(number: number, session: $0) }
        case UInt8(ascii: "X"): return session(words).map { .abandoned(number: number, session: $0) }
        case UInt8(ascii: "E"):
            guard words.count == 2, let code = words.last.flatMap({ ASCII.decimal($0) }), code <= faultMax else {
                return nil
            }
            return .answer(number: number, .fault(code))
        case UInt8(ascii: "T"): return words.count == 1 ? .answer(number: number, .taken) : nil
        case UInt8(ascii: "L"): return words.count == 1 ? .answer(number: number, .tooLarge) : nil
        case UInt8(ascii: "B"): return words.count == 1 ? .answer(number: number, .busy) : nil
        default: return nil
        }
    }

    private static func session(_ words: ArraySlice<ArraySlice<UInt8>>) -> [UInt8]? {
        guard words.count == 2, let session = words.last, !session.isEmpty, session.count <= sessionBytesMax else {
            return nil
        }
        return Array(session)
    }

    private static func numbers(_ words: ArraySlice<ArraySlice<UInt8>>) -> [Int]? {
        guard !words.isEmpty, words.count <= numbersMax else { return nil }
        let numbers = words.compactMap { ASCII.decimal($0) }
        return numbers.count == words.count ? numbers : nil
    }
}
