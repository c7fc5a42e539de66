import Core
import Dialects
import TestSupport

/// What the suites of Socket.IO share.
enum SocketIO {
    static let settings = SocketIODialect.Settings(
        pingIntervalMs: 300, pingTimeoutMs: 200, payloadBytesMax: 1_000_000, connectMs: 1_000,
        json: JSON.Limits(depthMax: 8, elementsMax: 200), subscribeBatchMax: 3, publishBytesMax: 40)
    static let dialect = SocketIODialect(namespaces: StandardTables.socketIONamespaces, settings: settings) {
        Array("id".utf8)
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}

/// A client and its session: what it sends goes in, what it is told and what is asked for it comes out, one line each.
struct SocketIOClient {
    var machine: SocketIOMachine
    /// Whether doors are opened at once, as by a session that knows every token.
    var opensDoors = true
    /// What the last request carried for its answer.
    private(set) var ref: Reference?
    private(set) var operation: OperationName?
    private(set) var sessionID = SessionID.main
    /// Whose token opens doors.
    var user: String?

    init(_ dialect: SocketIODialect = SocketIO.dialect, upgrades: Bool = false, in namespaces: [String] = []) {
        machine = dialect.converse(sid: Array("e1".utf8), upgrades: upgrades)
        var steps: [DialectStep] = []
        machine.began(nowMs: 0, &steps)
        for namespace in namespaces { _ = says("40\(namespace),") }
    }

    /// The client sends text.
    mutating func says(_ text: String, at nowMs: Int = 0) -> [String] {
        step { $0.received(Array(text.utf8), as: .text, nowMs: nowMs, &$1) }
    }

    /// The client sends bytes.
    mutating func sends(_ bytes: [UInt8]) -> [String] {
        step { $0.received(bytes, as: .binary, nowMs: 0, &$1) }
    }

    /// The gateway answers the last request.
    mutating func told(_ message: ServerMessage) -> [String] {
        let (sessionID, ref) = (sessionID, ref)
        return step { $0.send(message, at: sessionID, ref: ref, &$1) }
    }

    /// The gateway tells something unasked for.
    mutating func told(_ message: ServerMessage, at sessionID: SessionID) -> [String] {
        step { $0.send(message, at: sessionID, ref: nil, &$1) }
    }

    mutating func opened(_ sessionID: Int) -> [String] {
        let user = user.map { Array($0.utf8) }
        return step { $0.opened(SessionID(sessionID), by: user, &$1) }
    }

    /// An event for everybody, as this client gets it.
    mutating func hears(_ topic: String, _ offset: Int) -> String? {
        guard let topic = Topic(topic), let position = Position(epoch: Array("k3x9".utf8), offset: offset) else {
            return nil
        }
        let shared = [WireUnit(.text, Array("42[\"e\",{}]".utf8))]
        guard case .instead(let units) = machine.decorate(topic, position, at: sessionID, { shared }) else {
            return nil
        }
        return SocketIO.text(units[0].bytes)
    }

    mutating func refused(_ sessionID: Int, _ refusal: Refusal) -> [String] {
        step { $0.refused(SessionID(sessionID), refusal, &$1) }
    }

    /// Time passes up to the next deadline, `count` times.
    mutating func waits(_ count: Int = 1) -> [String] {
        (0..<count).flatMap { _ in
            let now = machine.deadlineMs
            return now == Int.max ? ["for ever"] : step { $0.deadlineReached(nowMs: now, &$1) }
        }
    }

    private mutating func step(_ act: (inout SocketIOMachine, inout [DialectStep]) -> Void) -> [String] {
        var steps: [DialectStep] = []
        act(&machine, &steps)
        var lines: [String] = []
        for step in steps {
            lines.append(line(step))
            guard opensDoors, case .open(let sessionID, _) = step else { continue }
            lines += opened(sessionID.number)
        }
        return lines
    }

    private mutating func line(_ step: DialectStep) -> String {
        switch step {
        case .say(let unit):
            return unit.kind == .text ? SocketIO.text(unit.bytes) : "bytes \(unit.bytes)"
        case .open(let sessionID, let token):
            return "open \(sessionID.number) \(token.map { SocketIO.text($0) } ?? "-")"
        case .end(let sessionID):
            return "end \(sessionID.number)"
        case .close(let reason):
            return "close \(reason.rawValue)"
        case .request(let sessionID, .success(let request)):
            (self.sessionID, ref, operation) = (sessionID, request.ref, request.operation)
            return "request \(sessionID.number) \(SocketIOClient.words(request.command))"
        case .request(let sessionID, .failure(let refusal)):
            (self.sessionID, ref) = (sessionID, refusal.ref)
            return "refusal \(sessionID.number) \(refusal.refusal.code.rawValue) \(refusal.refusal.message)"
        }
    }

    private static func words(_ command: ClientCommand) -> String {
        switch command {
        case .authenticate(let token), .refresh(let token): "authenticate \(SocketIO.text(token))"
        case .subscribe(let requests):
            "subscribe "
                + requests.map { "\($0.topic)\($0.since.map { "@\($0.offset)" } ?? "")" }.joined(separator: " ")
        case .unsubscribe(let topics): "unsubscribe " + topics.map(\.description).joined(separator: " ")
        case .publish(let publish): "publish \(publish.topic) \(publish.event) \(SocketIO.text(publish.data))"
        case .command(let name, let arguments):
            "command \(name) \(SocketIO.text(arguments.raw))"
                + arguments.known.map { " \($0.key)=\(SocketIO.text($0.value))" }.sorted().joined()
        case .track(let request): "track \(request.topic) \(SocketIO.text(request.meta))"
        case .untrack(let topic): "untrack \(topic)"
        case .ping: "ping"
        }
    }
}
