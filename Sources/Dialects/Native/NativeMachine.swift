import Core

/// A native connection: one message is one request, and one answer is one message.
///
/// The rules of its path may ask for topics before the client does; the client receives the answers as if it had asked.
/// Its three words fit into an existential, so that a connection needs no memory besides.
public struct NativeMachine: DialectMachine {
    private let dialect: NativeDialect
    private var requests: SocketRequests

    init(_ dialect: NativeDialect) {
        self.dialect = dialect
        requests = SocketRequests()
    }

    /// Asks for the topics of the path.
    public mutating func opened(_ sessionID: SessionID, by user: [UInt8]?, _ steps: inout [DialectStep]) {
        for request in requests.opened(by: user, at: dialect.socket) {
            steps.append(.request(.main, .success(request)))
        }
    }

    /// Makes a request of the message, or refuses it.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep]
    ) {
        switch dialect.decode(message, as: kind) {
        case .success(let request):
            steps.append(.request(.main, .success(requests.received(request, at: dialect.socket))))
        case .failure(let refusal): steps.append(.request(.main, .failure(refusal)))
        }
    }

    /// Sends the message in one text frame.
    public mutating func send(
        _ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep]
    ) {
        steps.append(.say(WireUnit(.text, dialect.encode(message, ref: ref))))
        if let first = dialect.socket.first(message) {
            let event = ChannelMessage(position: nil, event: first.event, id: nil, data: first.state)
            steps += NativeEventEncoder().event(first.topic, event).map { .say($0) }
        }
        for request in requests.sent(message, at: dialect.socket) { steps.append(.request(.main, .success(request))) }
    }
}
