import Core

/// Makes a command of one parsed native message.
///
/// Throws the refusal that is sent to the client. Texts name members, and never repeat what the client sent.
struct NativeDecoder {
    /// The message; `nil` where another dialect supplies the event's name and data by themselves.
    let root: JSON.Value?
    let subscribeBatchMax: Int
    let publishBytesMax: Int
    /// The meaning of members such as `shopId`.
    var socket = NativeSocket.plain

    /// Reads `ref`: the exact text of a string or number; absent and `null` are no reference.
    static func reference(_ value: JSON.Value?) throws(Refusal) -> Reference? {
        guard let value = present(value) else { return nil }
        guard value.kind == .string || value.kind == .number else {
            throw Refusal(.badRequest, "\"ref\" must be a string or a number.")
        }
        guard value.raw.count <= NativeDialect.referenceBytesMax, let reference = Reference(value.raw) else {
            throw Refusal(.badRequest, "\"ref\" must have at most \(NativeDialect.referenceBytesMax) bytes.")
        }
        return reference
    }

    /// Reads the whole message.
    func command() throws(Refusal) -> ClientCommand {
        guard let event = NativeDecoder.present(root?["event"]) else {
            throw Refusal(.badRequest, "The member \"event\" is missing, e.g. {\"event\":\"subscribe\",...}.")
        }
        guard let text = event.stringBytes, let name = EventName(text) else {
            throw Refusal(
                .badRequest, "\"event\" must be a string of 1 to \(EventName.bytesMax) of A-Z a-z 0-9 . _ : / -.")
        }
        let data = NativeDecoder.present(root?["data"])
        // Clients of other backends send the bare token.
        if name.description == "authenticate", let token = data?.stringBytes { return .authenticate(token: token) }
        if let data, data.kind != .object {
            throw Refusal(.badRequest, "\"data\" must be an object, e.g. \"data\":{}.")
        }
        return try command(name, data)
    }

    /// Reads the command that an event's name stands for; `data` is an object.
    func command(_ name: EventName, _ data: JSON.Value?) throws(Refusal) -> ClientCommand {
        switch name.description {
        case "authenticate": return try authenticate(data)
        case "subscribe": return .subscribe(try targets(data, verb: "subscribe"))
        case "unsubscribe": return .unsubscribe(try targets(data, verb: "unsubscribe").map(\.topic))
        case "publish": return try publish(data)
        case "track": return .track(try track(data))
        case "untrack": return .untrack(try trackedTopic(data, verb: "untrack"))
        case "ping": return .ping
        default: return try other(name, data)
        }
    }

    private func authenticate(_ data: JSON.Value?) throws(Refusal) -> ClientCommand {
        guard let token = data?["token"]?.stringBytes else {
            throw Refusal(.badRequest, "authenticate needs \"data\":{\"token\":\"<jwt>\"}; the token is a string.")
        }
        return .authenticate(token: token)
    }

    private func publish(_ data: JSON.Value?) throws(Refusal) -> ClientCommand {
        let shape = "{\"event\":\"publish\",\"topic\":T,\"data\":{\"event\":E,\"data\":{...}}}"
        guard let data else { throw Refusal(.badRequest, "publish has the form \(shape).") }
        guard let topic = try NativeTarget(top: root?["topic"], object: data, socket: socket).topic() else {
            throw Refusal(.badRequest, "publish names no topic; it has the form \(shape).")
        }
        return .publish(try PublishReader(.message, bytesMax: publishBytesMax).request(on: topic, data))
    }

    private func track(_ data: JSON.Value?) throws(Refusal) -> TrackRequest {
        let topic = try trackedTopic(data, verb: "track")
        let meta = NativeDecoder.present(data?["meta"])
        guard meta == nil || meta?.kind == .object else {
            throw Refusal(.badRequest, "\"meta\" must be an object, e.g. \"meta\":{\"name\":\"Ann\"}.")
        }
        return TrackRequest(topic: topic, key: .user, meta: meta.map { TrackRequest.meta($0) } ?? Array("{}".utf8))
    }

    private func trackedTopic(_ data: JSON.Value?, verb: String) throws(Refusal) -> Topic {
        guard let topic = try NativeTarget(top: root?["topic"], object: data, socket: socket).topic() else {
            throw Refusal(
                .badRequest, "\(verb) names no topic; send \"data\":{\"topic\":\"shop:42\"} or {\"shopId\":\"42\"}.")
        }
        return topic
    }

    private func other(_ name: EventName, _ data: JSON.Value?) throws(Refusal) -> ClientCommand {
        // Most likely meant as a publish; running it as a command would only answer that no command has that name.
        guard NativeDecoder.present(root?["topic"]) == nil else {
            throw Refusal(
                .badRequest,
                "\"topic\" goes with subscribe, unsubscribe, publish, track and untrack; a command takes its arguments in \"data\"."
            )
        }
        return .command(name: name.description, arguments: CommandArguments(object: data))
    }

    // MARK: Topics

    /// Reads the topics of a subscribe or unsubscribe: one topic, or the batch `topics`.
    private func targets(_ data: JSON.Value?, verb: String) throws(Refusal) -> [SubscribeRequest] {
        if NativeDecoder.present(root?["since"]) != nil {
            throw Refusal(.badRequest, "\"since\" belongs into \"data\", beside the topic.")
        }
        let single = try NativeTarget(top: root?["topic"], object: data, socket: socket).topic()
        let since = try position(data?["since"])
        let presence = try flag(data?["presence"])
        if let batch = NativeDecoder.present(data?["topics"]) {
            guard single == nil && since == nil else {
                throw Refusal(.badRequest, "Send either one topic or \"topics\"; \"since\" goes into its elements.")
            }
            return try self.batch(batch, presence: presence ?? false)
        }
        guard let topic = single else {
            throw Refusal(
                .badRequest, "\(verb) names no topic; send \"data\":{\"topic\":\"shop:42\"} or {\"shopId\":\"42\"}.")
        }
        return [SubscribeRequest(topic: topic, since: since, presence: presence ?? false)]
    }

    private func batch(_ value: JSON.Value, presence: Bool) throws(Refusal) -> [SubscribeRequest] {
        guard value.kind == .array else { throw Refusal(.badRequest, "\"topics\" must be an array.") }
        var requests: [SubscribeRequest] = []
        var seen: Set<Topic> = []
        for element in value.members {
            guard requests.count < subscribeBatchMax else {
                throw Refusal(.tooLarge, "\"topics\" may hold at most \(subscribeBatchMax); send several messages.")
            }
            let request = try self.element(element, presence: presence)
            guard seen.insert(request.topic).inserted else {
                throw Refusal(.badRequest, "\"topics\" names a topic twice.")
            }
            requests.append(request)
        }
        guard !requests.isEmpty else { throw Refusal(.badRequest, "\"topics\" is empty; name at least one topic.") }
        return requests
    }

    private func element(_ value: JSON.Value, presence: Bool) throws(Refusal) -> SubscribeRequest {
        switch value.kind {
        case .string:
            return SubscribeRequest(topic: try NativeTarget.topic(value), since: nil, presence: presence)
        case .object:
            guard let topic = try NativeTarget(top: nil, object: value, socket: socket).topic() else {
                throw Refusal(.badRequest, "An element of \"topics\" names no topic.")
            }
            return SubscribeRequest(
                topic: topic, since: try position(value["since"]), presence: try flag(value["presence"]) ?? presence)
        default:
            throw Refusal(.badRequest, "\"topics\" holds strings, or objects {\"topic\":T,\"since\":{...}}.")
        }
    }

    /// Reads whether the client wants presence.
    private func flag(_ value: JSON.Value?) throws(Refusal) -> Bool? {
        guard let value = NativeDecoder.present(value) else { return nil }
        guard let flag = value.bool else { throw Refusal(.badRequest, "\"presence\" must be true or false.") }
        return flag
    }

    private func position(_ value: JSON.Value?) throws(Refusal) -> Position? {
        guard let value = NativeDecoder.present(value) else { return nil }
        guard value.kind == .object else {
            throw Refusal(.badRequest, "\"since\" must be an object {\"epoch\":\"...\",\"offset\":n}.")
        }
        guard let epoch = value["epoch"]?.stringBytes, Position.isEpoch(epoch) else {
            throw Refusal(
                .badRequest,
                "\"since.epoch\" must be the epoch as it was sent: 1 to \(Position.epochBytesMax) of A-Z a-z 0-9 _ -.")
        }
        guard let offset = value["offset"]?.int, let position = Position(epoch: epoch, offset: offset) else {
            throw Refusal(
                .badRequest, "\"since.offset\" must be a whole number of 0 to \(Int.max), without point or exponent.")
        }
        return position
    }

    /// The value, unless it is absent or `null`: typed clients write absent members as `null`.
    static func present(_ value: JSON.Value?) -> JSON.Value? {
        value?.kind == .null ? nil : value
    }
}
