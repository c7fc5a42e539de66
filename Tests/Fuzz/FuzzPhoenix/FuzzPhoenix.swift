import Core
import Dialects

/// Talks to a Phoenix connection in arbitrary frames; whatever it asks is granted or refused, and whatever it says must
/// be a frame that every client reads.
///
/// The first byte's lowest bit chooses the version. After it, each frame is one byte (1: text, 0: binary; its upper
/// bits refuse what is asked) and two of length, then so many bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = bytes.first else { return 0 }
    let json = JSON.Limits(depthMax: 32, elementsMax: 10_000)
    let version: PhoenixVersion = first & 1 == 0 ? .v1 : .v2
    let dialect = PhoenixDialect(version, json: json, channelsMax: 4, publishBytesMax: 4_096)
    var client = Client(version: version, machine: dialect.converse(), encoder: dialect.encoders[0])
    var place = 1
    while place + 3 <= bytes.count {
        let head = bytes[place]
        let count = min(Int(bytes[place + 1]) << 8 | Int(bytes[place + 2]), bytes.count - place - 3)
        let frame = Array(bytes[(place + 3)..<(place + 3 + count)])
        client.send(frame, as: head & 1 == 1 ? .text : .binary, grants: head < 128)
        place += 3 + count
    }
    client.end()
    return 0
}

/// A connection whose gateway grants or refuses everything.
struct Client {
    let version: PhoenixVersion
    var machine: any DialectMachine
    let encoder: any EventEncoder
    private var topics: Set<Topic> = []

    init(version: PhoenixVersion, machine: any DialectMachine, encoder: any EventEncoder) {
        self.version = version
        self.machine = machine
        self.encoder = encoder
    }

    mutating func send(_ frame: [UInt8], as kind: MessageKind, grants: Bool) {
        var steps: [DialectStep] = []
        machine.received(frame, as: kind, nowMs: 0, &steps)
        var rounds = 0
        while !steps.isEmpty {
            rounds += 1
            precondition(rounds < 4, "one frame asks without end")
            var next: [DialectStep] = []
            for step in steps { take(step, grants: grants, &next) }
            steps = next
        }
    }

    private mutating func take(_ step: DialectStep, grants: Bool, _ next: inout [DialectStep]) {
        switch step {
        case .say(let unit): check(unit)
        case .request(_, .failure(let failure)):
            precondition(failure.close == nil)
            machine.send(.error(failure.refusal, topic: nil), at: .main, ref: failure.ref, &next)
        case .request(_, .success(let request)):
            let answer = grants ? grant(request.command) : .error(Refusal(.forbidden, "no"), topic: nil)
            machine.send(answer, at: .main, ref: request.ref, &next)
        case .open, .end, .close: preconditionFailure("a frame opens and ends nothing")
        }
    }

    private mutating func grant(_ command: ClientCommand) -> ServerMessage {
        guard let position = Position(epoch: Array("e".utf8), offset: 7) else { preconditionFailure("no position") }
        switch command {
        case .ping: return .pong
        case .authenticate, .refresh: return .authenticated(userID: Array("u".utf8), expiresAt: 1)
        case .subscribe(let requests):
            precondition(requests.count == 1)
            topics.insert(requests[0].topic)
            return .subscribed(topic: requests[0].topic, position: position, recovered: false, state: nil)
        case .unsubscribe(let topics):
            precondition(topics.count == 1)
            self.topics.remove(topics[0])
            return .unsubscribed(topic: topics[0])
        case .publish(let request):
            precondition(!request.event.isReserved && request.data.count <= 4_096)
            precondition(topics.contains(request.topic) || topics.count <= 4)
            let message = ChannelMessage(position: position, event: request.event, id: nil, data: request.data)
            encoder.event(request.topic, message).forEach(check)
            return .published(position: position)
        case .track(let request):
            let key: [UInt8] = if case .given(let key) = request.key { key } else { [] }
            precondition(key.count <= PresenceMember.keyBytesMax)
            let member = PresenceMember(
                id: PresenceID(node: [UInt8(ascii: "n")], shard: 0, number: 1), key: key, user: nil,
                meta: request.meta, revision: 2)
            let change = PresenceChange(joins: [member], leaves: [member])
            encoder.presence(request.topic, change).forEach(check)
            return .presence(topic: request.topic, members: encoder.presence(request.topic, [member, member]))
        case .untrack: return .ack(data: Array("{}".utf8))
        case .command: preconditionFailure("there are no commands")
        }
    }

    /// The gateway takes everything away.
    mutating func end() {
        var steps: [DialectStep] = []
        for topic in topics {
            machine.send(.unsubscribed(topic: topic), at: .main, ref: nil, &steps)
            machine.send(.error(Refusal(.forbidden, "no"), topic: topic), at: .main, ref: nil, &steps)
        }
        for step in steps { if case .say(let unit) = step { check(unit) } }
    }

    /// Traps unless every client of the version could read the unit.
    private func check(_ unit: WireUnit) {
        guard unit.kind == .text else {
            precondition(version == .v2 && unit.bytes.count >= 5 && unit.bytes[0] == 4)
            return
        }
        // A few levels and values more than what came in, for the envelope.
        guard let root = try? JSON(parsing: unit.bytes, limits: JSON.Limits(depthMax: 40, elementsMax: 10_100)).root
        else { preconditionFailure("not JSON") }
        switch version {
        case .v1: precondition(root.members.map(\.name) == ["topic", "event", "payload", "ref"])
        case .v2:
            let elements = Array(root.members)
            precondition(elements.count == 5 && elements[2].kind == .string && elements[4].kind == .object)
        }
    }
}
