import Core
import Dialects

/// Decodes arbitrary bytes as a native message; whatever is understood or refused must encode to one JSON object.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let json = JSON.Limits(depthMax: 32, elementsMax: 10_000)
    let dialect = NativeDialect(json: json, subscribeBatchMax: 64, publishBytesMax: 65_536)
    _ = dialect.decode(bytes, as: .binary)
    switch dialect.decode(bytes) {
    case .failure(let failure):
        check(dialect.encode(.error(failure.refusal, topic: nil), ref: failure.ref), failure.ref)
    case .success(let request):
        for answer in answers(to: request.command) { check(dialect.encode(answer, ref: request.ref), request.ref) }
    }
    return 0
}

/// The answers a session could give to a command, made of what the client sent.
private func answers(to command: ClientCommand) -> [ServerMessage] {
    switch command {
    case .authenticate(let token), .refresh(let token):
        precondition(UTF8Text.isValid(token))
        return [.authenticated(userID: token, expiresAt: token.count)]
    case .subscribe(let requests):
        precondition((1...64).contains(requests.count))
        return requests.flatMap { request -> [ServerMessage] in
            guard let since = request.since else {
                return [.gap(topic: request.topic, position: nil, reason: .conflated)]
            }
            return [
                .subscribed(topic: request.topic, position: since, recovered: true, state: nil),
                .gap(topic: request.topic, position: since, reason: .reset),
            ]
        }
    case .unsubscribe(let topics):
        precondition((1...64).contains(topics.count))
        return topics.map { .unsubscribed(topic: $0) }
    case .publish(let publish):
        precondition(!publish.event.isReserved)
        let message = ChannelMessage(position: nil, event: publish.event, id: nil, data: publish.data)
        for unit in NativeEventEncoder().event(publish.topic, message) { check(unit.bytes, nil) }
        return [.ack(data: publish.data)]
    case .track(let request):
        let member = PresenceMember(
            id: PresenceID(node: [UInt8(ascii: "n")], shard: 0, number: 1), key: [], user: nil, meta: request.meta,
            revision: 1)
        let encoder = NativeEventEncoder()
        for unit in encoder.presence(request.topic, PresenceChange(joins: [member])) { check(unit.bytes, nil) }
        return [.presence(topic: request.topic, members: encoder.presence(request.topic, [member]))]
    case .untrack(let topic):
        return [.presence(topic: topic, members: nil)]
    case .command(let name, let arguments):
        precondition(EventName(name) != nil)
        return [.ack(data: arguments.raw), .error(code: name, message: name, topic: nil)]
    case .ping:
        return [.pong]
    }
}

/// Traps unless the text is one JSON object that carries the reference.
private func check(_ text: [UInt8], _ ref: Reference?) {
    // One level deeper and a few values more than what came in, for the envelope.
    let limits = JSON.Limits(depthMax: 33, elementsMax: 10_100)
    guard let root = try? JSON(parsing: text, limits: limits).root else { preconditionFailure("not JSON") }
    precondition(root.kind == .object && root["event"]?.string != nil)
    precondition(root["ref"].map { Array($0.raw) } == ref?.bytes)
}
