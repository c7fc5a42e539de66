import Core

/// A Phoenix connection: its channels, and the answers to their clients' requests.
///
/// Every message becomes one request, also one that is dropped or refused here. So each counts against the budget, and
/// too many refusals in a row end the connection. At most ``PhoenixDialect/channelsMax`` channels are stored.
public struct PhoenixMachine: DialectMachine {
    let dialect: PhoenixDialect
    let writer: PhoenixWriter
    var channels: [Topic: PhoenixChannel] = [:]
    /// The hash of the token that was accepted last: clients present the same one with each join.
    ///
    /// A token with the same hash would only not be checked: it could grant nothing.
    var acceptedToken = 0

    init(_ dialect: PhoenixDialect) {
        self.dialect = dialect
        writer = PhoenixWriter(version: dialect.version)
    }

    /// Makes a request of the frame; a message that is no frame is dropped, and the connection stays open.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep]
    ) {
        let decoder = PhoenixFrameDecoder(version: dialect.version, json: dialect.json)
        guard let frame = decoder.decode(message, as: kind) else {
            return drop("The frame is not one of this protocol.", &steps)
        }
        if frame.topic.elementsEqual("phoenix".utf8) { return serve(frame, &steps) }
        switch (PhoenixChannelName.topic(frame.topic), String(decoding: frame.event, as: UTF8.self)) {
        case (.success(let topic), "phx_join"): join(topic, frame, &steps)
        case (.success(let topic), "phx_leave"): leave(topic, frame, &steps)
        case (.success(let topic), let event) where channels[topic] != nil: pushed(event, topic, frame, &steps)
        case (.failure(let problem), "phx_join"):
            refuse(frame, reason: problem.reason, &steps, joinRef: problem == .unmatched ? [] : nil)
        case (.failure, "phx_leave"): leaveNothing(frame, &steps)
        default: refuse(frame, reason: PhoenixChannelName.Problem.unmatched.reason, &steps, joinRef: [])
        }
    }

    /// Handles an event of the connection itself: the heartbeat, whose reference may be `null`.
    private mutating func serve(_ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        switch String(decoding: frame.event, as: UTF8.self) {
        case "heartbeat": ask(.ping, PhoenixAnswer(.heartbeat, frame), &steps)
        case "phx_join": refuse(frame, reason: PhoenixChannelName.Problem.unmatched.reason, &steps, joinRef: [])
        case "phx_leave": leaveNothing(frame, &steps)
        default: drop("The connection has no such event.", &steps)
        }
    }

    /// Handles an event of a channel that is joined, or whose join is pending.
    private mutating func pushed(
        _ event: String, _ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]
    ) {
        switch event {
        case "broadcast": broadcast(topic, frame, &steps)
        case "access_token": refresh(topic, frame, &steps)
        case "presence": presence(topic, frame, &steps)
        default: drop("A channel has no such event.", &steps)
        }
    }

    // MARK: Steps

    /// Makes a request; a message whose answer could not be packed is dropped.
    func ask(_ command: ClientCommand, _ answer: PhoenixAnswer, _ steps: inout [DialectStep]) {
        guard let reference = answer.reference else { return drop("A reference is too long.", &steps) }
        steps.append(.request(.main, .success(ClientRequest(command: command, ref: reference))))
    }

    /// Refuses a message with a text for the client; `joinRef` replaces the frame's in the reply.
    func refuse(
        _ frame: PhoenixFrame, reason: String, _ steps: inout [DialectStep], joinRef: [UInt8]? = nil
    ) {
        var answer = PhoenixAnswer(.refused, frame)
        if let joinRef { answer.joinRef = joinRef }
        refuse(Refusal(.badRequest, reason), answer, &steps)
    }

    func refuse(_ refusal: Refusal, _ answer: PhoenixAnswer, _ steps: inout [DialectStep]) {
        let failure = DialectRefusal(refusal: refusal, ref: answer.reference, close: nil)
        steps.append(.request(.main, .failure(failure)))
    }

    /// Counts a message, and sends nothing.
    func drop(_ why: String, _ steps: inout [DialectStep]) {
        refuse(Refusal(.badRequest, why), PhoenixAnswer(.nothing), &steps)
    }

    /// Answers the leave of a channel that was not joined: it succeeds, at the cost and in the form of a heartbeat.
    private func leaveNothing(_ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        ask(.ping, PhoenixAnswer(.heartbeat, frame), &steps)
    }

    // MARK: Join and leave

    private mutating func join(_ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        let join = PhoenixJoin(frame)
        guard channels[topic] != nil || channels.count < dialect.channelsMax else {
            return refuse(frame, reason: "ChannelRateLimitReached: Too many channels", &steps)
        }
        if let problem = join.problem { return refuse(frame, reason: problem, &steps) }
        var answer = PhoenixAnswer(.join, frame)
        // The reference of a channel is that of its join.
        if answer.joinRef.isEmpty { answer.joinRef = answer.ref }
        let pending = PhoenixChannel.Pending(
            joinRef: answer.joinRef, ref: answer.ref, options: join.options, since: join.since, replay: join.replay,
            changes: join.changes, asksForChanges: join.asksForChanges)
        channels[topic, default: PhoenixChannel()].pending = pending
        if let token = join.token, token.hashValue != acceptedToken {
            answer.kind = .joinToken
            answer.token = token.hashValue
            ask(.refresh(token: token), answer, &steps)
        } else {
            ask(.subscribe([pending.request(of: topic)]), answer, &steps)
        }
    }

    private mutating func leave(_ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        guard let channel = channels[topic] else { return leaveNothing(frame, &steps) }
        guard frame.joinRef.isEmpty || frame.joinRef == channel.joinRef else {
            return drop("The channel was joined anew.", &steps)
        }
        var answer = PhoenixAnswer(.leave, frame)
        answer.joinRef = channel.joinRef
        ask(.unsubscribe([topic]), answer, &steps)
    }

    // MARK: Pushes

    private mutating func broadcast(_ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        let options = channels[topic]?.options ?? PhoenixChannel.Options()
        let answer = PhoenixAnswer(options.wantsAcknowledgements ? .acknowledged : .broadcast, frame)
        let reader = PublishReader(.phoenix, bytesMax: dialect.publishBytesMax)
        do throws(Refusal) {
            var request: PublishRequest
            switch frame.payload {
            case .json(let payload): request = try reader.request(on: topic, payload)
            case .broadcast(let event, .json(let text)):
                request = try reader.request(on: topic, event: event, text: text, limits: dialect.json)
            case .broadcast(let event, .bytes(let bytes)):
                request = try reader.request(
                    on: topic, event: event, text: BytesObject.data(of: bytes), limits: dialect.json)
            case .bytes: throw Refusal(.badRequest, "a broadcast is JSON, or a binary frame of kind 3")
            }
            request.isForOthers = !options.wantsOwn
            ask(.publish(request), answer, &steps)
        } catch {
            refuse(error, answer, &steps)
        }
    }

    /// Refreshes the connection's token: no answer is sent unless the refusal ends the channel.
    private mutating func refresh(_ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        guard let token = frame.object.flatMap({ PhoenixJoin.token($0) }), token.hashValue != acceptedToken else {
            // Clients repeat their current token, and the keys of their connections.
            return ask(.ping, PhoenixAnswer(.nothing), &steps)
        }
        var answer = PhoenixAnswer(.accessToken, frame)
        answer.token = token.hashValue
        ask(.refresh(token: token), answer, &steps)
    }

    /// `track` and `untrack`; always answered.
    private mutating func presence(_ topic: Topic, _ frame: PhoenixFrame, _ steps: inout [DialectStep]) {
        let answer = PhoenixAnswer(.presence, frame)
        let event = frame.object?["event"]?.stringBytes ?? []
        if ASCII.equalIgnoringCase(event, Array("untrack".utf8)) { return ask(.untrack(topic), answer, &steps) }
        guard ASCII.equalIgnoringCase(event, Array("track".utf8)) else {
            return refuse(frame, reason: "UnknownPresenceEvent: send track or untrack", &steps)
        }
        guard let meta = frame.object?["payload"], meta.kind == .object else {
            return refuse(frame, reason: "Presence track payload must be a map", &steps)
        }
        let key = channels[topic]?.options.presenceKey.map { TrackRequest.Key.given($0) } ?? .unique
        ask(.track(TrackRequest(topic: topic, key: key, meta: TrackRequest.meta(meta))), answer, &steps)
    }
}
