import Core
import Dialects
import Testing

/// What the suites of the Phoenix dialect share: a connection whose gateway is played by the test.
struct Phoenix {
    static let json = JSON.Limits(depthMax: 12, elementsMax: 300)

    private var machine: any DialectMachine
    /// Requests that were asked and not looked at yet.
    private(set) var asked: [Result<ClientRequest, DialectRefusal>] = []
    /// What was said and not looked at yet; binary units begin with `bytes:` and are hexadecimal.
    private(set) var said: [String] = []

    init(_ version: PhoenixVersion, channelsMax: Int = 3, flattened: Set<[UInt8]> = []) {
        machine = PhoenixDialect(
            version, json: Phoenix.json, channelsMax: channelsMax, publishBytesMax: 60, flattened: flattened
        ).converse()
        var steps: [DialectStep] = []
        machine.began(nowMs: 0, &steps)
        #expect(steps == [.open(.main, token: nil)])
    }

    /// Whether an encoder of the connection's version is told apart from others.
    var encoder: Int { machine.encoder(of: .main) }

    // MARK: From the client

    /// The client sends text; the whole exchange of what is asked is left to the test.
    mutating func send(_ text: String) { send(Array(text.utf8), as: .text) }

    mutating func send(_ bytes: [UInt8], as kind: MessageKind) {
        var steps: [DialectStep] = []
        machine.received(bytes, as: kind, nowMs: 0, &steps)
        take(steps)
    }

    // MARK: From the gateway

    /// The gateway tells something unasked for, or in answer to a reference.
    mutating func tell(_ message: ServerMessage, ref: Reference? = nil) {
        var steps: [DialectStep] = []
        machine.send(message, at: .main, ref: ref, &steps)
        take(steps)
    }

    /// Answers the oldest request: with a message, or, when the dialect refused it itself, with that refusal.
    mutating func answer(_ message: ServerMessage? = nil, _ location: SourceLocation = #_sourceLocation) throws {
        try #require(!asked.isEmpty, "nothing was asked", sourceLocation: location)
        switch asked.removeFirst() {
        case .success(let request):
            tell(try #require(message, "\(request.command)", sourceLocation: location), ref: request.ref)
        case .failure(let failure):
            #expect(message == nil, "refused: \(failure.refusal.message)", sourceLocation: location)
            #expect(failure.close == nil, sourceLocation: location)
            tell(.error(failure.refusal, topic: nil), ref: failure.ref)
        }
    }

    /// Hands over what the oldest request wants by the clock; it is still to be answered.
    mutating func replay(_ events: [ChannelMessage], upTo offset: Int, of channel: String = "order:42") throws {
        let ref = try #require(try asked.first?.get().ref)
        let position = try Phoenix.position("k3x9", offset)
        tell(.replayed(topic: try Phoenix.topic(channel), events: events, position: position), ref: ref)
    }

    /// The command of the oldest request, which must be the only one.
    func command(_ location: SourceLocation = #_sourceLocation) throws -> ClientCommand {
        #expect(asked.count == 1, sourceLocation: location)
        return try #require(try asked.first?.get().command, sourceLocation: location)
    }

    /// What was said since the last look.
    mutating func heard() -> [String] {
        defer { said = [] }
        return said
    }

    private mutating func take(_ steps: [DialectStep]) {
        for step in steps {
            switch step {
            case .say(let unit): said.append(Phoenix.text(unit))
            case .request(let sessionID, let request):
                #expect(sessionID == .main)
                asked.append(request)
            case .open, .end, .close: Issue.record("\(step)")
            }
        }
    }

    static func text(_ unit: WireUnit) -> String {
        unit.kind == .text ? String(decoding: unit.bytes, as: UTF8.self) : "bytes:" + hex(unit.bytes)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    // MARK: Frames

    /// A join as JavaScript's client sends it in v2, and Python's in v1.
    static func join(
        _ version: PhoenixVersion, _ channel: String = "realtime:order:42", ref: String = "1", _ config: String = "{}",
        _ more: String = ""
    ) -> String {
        frame(version, channel, "phx_join", "{\"config\":\(config)\(more)}", ref: ref, joinRef: ref)
    }

    static func frame(
        _ version: PhoenixVersion, _ channel: String, _ event: String, _ payload: String, ref: String,
        joinRef: String = "1"
    ) -> String {
        switch version {
        case .v1:
            "{\"topic\":\"\(channel)\",\"event\":\"\(event)\",\"payload\":\(payload),\"ref\":\"\(ref)\","
                + "\"join_ref\":\"\(joinRef)\"}"
        case .v2: "[\"\(joinRef)\",\"\(ref)\",\"\(channel)\",\"\(event)\",\(payload)]"
        }
    }

    /// A message as the client must hear it.
    static func message(
        _ version: PhoenixVersion, _ channel: String, _ event: String, _ payload: String, ref: String?,
        joinRef: String? = nil
    ) -> String {
        func quoted(_ ref: String?) -> String { ref.map { "\"\($0)\"" } ?? "null" }
        switch version {
        case .v1:
            return "{\"topic\":\"\(channel)\",\"event\":\"\(event)\",\"payload\":\(payload),\"ref\":\(quoted(ref))}"
        case .v2: return "[\(quoted(joinRef)),\(quoted(ref)),\"\(channel)\",\"\(event)\",\(payload)]"
        }
    }

    static func reply(
        _ version: PhoenixVersion, _ channel: String, _ status: String, _ response: String,
        ref: String?, joinRef: String? = "1"
    ) -> String {
        message(
            version, channel, "phx_reply", "{\"status\":\"\(status)\",\"response\":\(response)}", ref: ref,
            joinRef: joinRef)
    }

    static func refused(
        _ version: PhoenixVersion, _ channel: String, _ reason: String, ref: String?,
        joinRef: String? = "1"
    ) -> String {
        reply(version, channel, "error", "{\"reason\":\"\(reason)\"}", ref: ref, joinRef: joinRef)
    }

    static let order = "realtime:order:42"

    static func reply(
        _ version: PhoenixVersion, _ status: String, _ response: String, ref: String?, joinRef: String? = "1"
    ) -> String {
        reply(version, order, status, response, ref: ref, joinRef: joinRef)
    }

    static func refused(
        _ version: PhoenixVersion, _ reason: String, ref: String?, joinRef: String? = "1"
    ) -> String {
        refused(version, order, reason, ref: ref, joinRef: joinRef)
    }

    static func topic(_ text: String = "order:42") throws -> Topic { try #require(Topic(text)) }

    static func position(_ epoch: String = "k3x9", _ offset: Int = 17) throws -> Position {
        try #require(Position(epoch: Array(epoch.utf8), offset: offset))
    }

    static func subscribed(_ text: String = "order:42", recovered: Bool = false) throws -> ServerMessage {
        .subscribed(topic: try topic(text), position: try position(), recovered: recovered, state: nil)
    }

    /// A connection that has joined `order:42` with reference 1.
    static func joined(_ version: PhoenixVersion, _ config: String = "{}") throws -> Phoenix {
        var phoenix = Phoenix(version)
        phoenix.send(join(version, order, config))
        try phoenix.answer(try subscribed())
        _ = phoenix.heard()
        return phoenix
    }
}
