import Core

@testable import Dialects

/// What a newcomer would write to add a dialect: three types, and nothing of the gateway.
///
/// A client says `+shop:42` and `-shop:42`, each with a number in front that the answer repeats; `sessionID 2` opens another
/// door. An event is `shop:42 queue:update`, in bytes. It speaks first, and keeps its own clock.
struct ToyDialect: Dialect {
    var encoders: [any EventEncoder] { [ToyEncoder(prefix: ""), ToyEncoder(prefix: "2: ")] }
    func converse() -> any DialectMachine { ToyMachine() }
}

struct ToyEncoder: EventEncoder {
    let prefix: String
    var name: String { "toy" + prefix }

    func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        // Nothing is said of an event that the dialect has no words for.
        if message.event.bytes.elementsEqual("unsayable".utf8) { return [] }
        return [WireUnit(.binary, Array("\(prefix)\(topic) \(message.event)".utf8))]
    }

    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit] {
        [WireUnit(.text, Array("\(prefix)\(topic) lost".utf8))]
    }
}

struct ToyMachine: DialectMachine {
    private(set) var deadlineMs = Int.max

    mutating func began(nowMs: Int, _ steps: inout [DialectStep]) {
        deadlineMs = nowMs + 1_000
        say("hello", &steps)
        steps.append(.open(.main, token: nil))
    }

    mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep]
    ) {
        let words = String(decoding: message, as: UTF8.self).split(separator: " ").map(String.init)
        switch words.first {
        case "noop": return
        case "bye": steps.append(.close(.normal))
        case "open": steps.append(.open(SessionID(1), token: words.dropFirst().first.map { Array($0.utf8) }))
        case "end": steps.append(.end(SessionID(1)))
        default: ask(words, &steps)
        }
    }

    /// `7 +shop:42`, and `2` at the end for the second door.
    private func ask(_ words: [String], _ steps: inout [DialectStep]) {
        let sessionID = words.count == 3 ? SessionID(1) : .main
        guard words.count >= 2, let topic = Topic(Array(words[1].utf8.dropFirst())) else {
            let refusal = DialectRefusal(refusal: Refusal(.badRequest, "what?"), ref: nil, close: nil)
            return steps.append(.request(.main, .failure(refusal)))
        }
        let command: ClientCommand =
            words[1].hasPrefix("+")
            ? .subscribe([SubscribeRequest(topic: topic, since: nil)]) : .unsubscribe([topic])
        steps.append(
            .request(sessionID, .success(ClientRequest(command: command, ref: Reference(Array(words[0].utf8))))))
    }

    mutating func opened(_ sessionID: SessionID, by user: [UInt8]?, _ steps: inout [DialectStep]) {
        say("opened \(sessionID.number)", &steps)
    }

    mutating func refused(_ sessionID: SessionID, _ refusal: Refusal, _ steps: inout [DialectStep]) {
        say("refused \(sessionID.number) \(refusal.code.rawValue)", &steps)
    }

    mutating func send(
        _ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep]
    ) {
        let number = ref.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "-"
        switch message {
        case .subscribed(let topic, let position, _, _): say("\(number) on \(topic) \(position.offset)", &steps)
        case .unsubscribed(let topic): say("\(number) off \(topic)", &steps)
        case .error(let code, _, _, _): say("\(number) no \(code)", &steps)
        default: say("\(number) else", &steps)
        }
    }

    mutating func deadlineReached(nowMs: Int, _ steps: inout [DialectStep]) {
        deadlineMs = nowMs + 1_000
        say("still here", &steps)
    }

    func encoder(of sessionID: SessionID) -> Int { sessionID.number }

    private func say(_ text: String, _ steps: inout [DialectStep]) {
        steps.append(.say(WireUnit(.text, Array(text.utf8))))
    }
}
