import Core

/// The gateway's messages in the form that Phoenix clients expect.
extension PhoenixMachine {
    /// Sends the message, if the protocol has one like it.
    ///
    /// Nothing is sent for a drain or for a token's end: clients reconnect and refresh by themselves.
    public mutating func send(
        _ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep]
    ) {
        let answer = ref.flatMap { PhoenixAnswer($0) }
        switch message {
        case .authenticated: if let answer { authenticated(answer, &steps) }
        case .subscribed(let topic, let position, let recovered, let state):
            if let answer { joined(topic, answer, position, recovered: recovered, state: state, &steps) }
        case .unsubscribed(let topic): ended(topic, answer, &steps)
        case .published, .ack:
            if let answer, answer.kind == .acknowledged || answer.kind == .presence {
                steps.append(.say(writer.granted(answer)))
            }
        case .pong:
            if let answer, answer.kind == .heartbeat { steps.append(.say(writer.granted(answer))) }
        case .presence(let topic, let members): here(topic, members, &steps)
        case .replayed(let topic, let events, let position):
            if let answer { replayed(events, topic, upTo: position, answer) }
        case .gap(let topic, let position, let reason): steps.append(.say(writer.gap(topic, position, reason)))
        case .error(let code, let text, let topic, _):
            if let answer { refused(answer, code, text, &steps) } else { failed(topic, code, text, &steps) }
        case .draining, .tokenExpiring, .warning: break
        }
    }

    // MARK: Grants

    /// A token was accepted: the join that presented it continues.
    private mutating func authenticated(_ answer: PhoenixAnswer, _ steps: inout [DialectStep]) {
        acceptedToken = answer.token
        guard answer.kind == .joinToken, case .success(let topic) = PhoenixChannelName.topic(answer.topic),
            let pending = channels[topic]?.pending, pending.isAsked(by: answer)
        else { return }
        var next = answer
        next.kind = .join
        ask(.subscribe([pending.request(of: topic)]), next, &steps)
    }

    /// Stores the events that were read for a join until its reply is sent.
    private mutating func replayed(
        _ events: [ChannelMessage], _ topic: Topic, upTo position: Position, _ answer: PhoenixAnswer
    ) {
        guard let pending = channels[topic]?.pending, pending.isAsked(by: answer) else { return }
        channels[topic]?.pending?.replayed = events
        channels[topic]?.pending?.since = position
    }

    /// A join was granted: sends the reply, then the end of an older join of the channel, then the join's own messages.
    private mutating func joined(
        _ topic: Topic, _ answer: PhoenixAnswer, _ position: Position, recovered: Bool, state: [UInt8]?,
        _ steps: inout [DialectStep]
    ) {
        guard let channel = channels[topic], let pending = channel.pending, pending.isAsked(by: answer) else { return }
        channels[topic] = PhoenixChannel(
            joined: PhoenixChannel.Joined(joinRef: pending.joinRef, options: pending.options))
        var response = [UInt8(ascii: "{")]
        response.append(member: "postgres_changes", json: pending.changes)
        if let state { response.append(member: "state", json: state) }
        response.append(UInt8(ascii: "}"))
        steps.append(.say(writer.granted(answer, response: response)))
        if let older = channel.joined { close(answer.topic, older, unless: pending.joinRef, &steps) }
        for event in pending.replayed {
            steps.append(.say(dialect.encoder.replayed(topic, event, joinRef: pending.joinRef)))
        }
        if let since = pending.since, !recovered {
            let reason: GapReason = since.epoch == position.epoch ? .missed : .reset
            steps.append(.say(writer.gap(topic, position, reason)))
        }
        // The clients that want flat payloads also wait for this message without asking for it.
        if pending.options.wantsReadiness || dialect.encoder.flattens(topic) {
            let notice = "Replication connection established"
            steps.append(.say(writer.system(topic, joinRef: pending.joinRef, isError: false, notice)))
        }
        if pending.asksForChanges {
            steps.append(
                .say(
                    writer.system(
                        topic, joinRef: pending.joinRef, isError: true, extension: "postgres_changes",
                        "Database changes are not told here; listen to broadcasts.")))
        }
    }

    /// Sends the presence list; an empty one on a topic without presence, since clients wait for it.
    private func here(_ topic: Topic, _ members: [UInt8]?, _ steps: inout [DialectStep]) {
        guard let joined = channels[topic]?.joined else { return }
        let state = members ?? PhoenixWriter.emptyObject
        let name = PhoenixChannelName.channel(of: topic)
        steps.append(.say(writer.presenceState(name, joinRef: joined.joinRef, state: state)))
    }

    /// Sends that an older join of a channel has ended.
    ///
    /// Not in v1, whose clients would close the newer join: they do not distinguish the two.
    private func close(
        _ channel: [UInt8], _ older: PhoenixChannel.Joined, unless joinRef: [UInt8],
        _ steps: inout [DialectStep]
    ) {
        guard dialect.version == .v2, older.joinRef != joinRef else { return }
        steps.append(.say(writer.closed(channel, joinRef: older.joinRef)))
    }

    /// A topic was left: the client asked for it, or, without an answer to give, it lost the right to the topic.
    private mutating func ended(_ topic: Topic, _ answer: PhoenixAnswer?, _ steps: inout [DialectStep]) {
        guard let answer else {
            // The reason follows as an error; clients ignore everything after `phx_close`.
            channels[topic]?.isLost = true
            return
        }
        guard answer.kind == .leave else { return }
        if let channel = channels[topic], channel.joinRef == answer.joinRef { channels[topic] = nil }
        var reply = answer
        if reply.joinRef.isEmpty { reply.joinRef = reply.ref }
        steps.append(.say(writer.granted(reply)))
        steps.append(.say(writer.closed(answer.topic, joinRef: answer.joinRef)))
    }

    // MARK: Refusals

    /// A request failed.
    private mutating func refused(
        _ answer: PhoenixAnswer, _ code: String, _ text: String, _ steps: inout [DialectStep]
    ) {
        switch answer.kind {
        case .nothing: break
        case .refused: steps.append(.say(writer.refused(answer, reason: text)))
        case .presence:
            steps.append(.say(writer.refused(answer, reason: PhoenixReason.presence(answer, code, text))))
        case .heartbeat, .leave, .acknowledged:
            steps.append(.say(writer.refused(answer, reason: PhoenixReason.push(answer, code, text))))
        case .join, .joinToken: joinRefused(answer, code, text, &steps)
        case .broadcast:
            guard case .success(let topic) = PhoenixChannelName.topic(answer.topic) else { return }
            let notice = "broadcast refused: " + PhoenixReason.push(answer, code, text)
            steps.append(.say(writer.system(topic, joinRef: joinRef(of: topic), isError: false, notice)))
        case .accessToken: tokenRefused(answer, code, text, &steps)
        }
    }

    private func joinRef(of topic: Topic) -> [UInt8] { channels[topic]?.joined?.joinRef ?? [] }

    /// A join was refused; an older join of the channel ends as well, as clients expect.
    private mutating func joinRefused(
        _ answer: PhoenixAnswer, _ code: String, _ text: String, _ steps: inout [DialectStep]
    ) {
        let reason = PhoenixReason.join(answer, code, text)
        steps.append(.say(writer.refused(answer, reason: reason)))
        // The clients that want flat payloads show the status of this message, and not the reply's.
        if case .success(let topic) = PhoenixChannelName.topic(answer.topic), dialect.encoder.flattens(topic) {
            steps.append(.say(writer.system(topic, joinRef: answer.joinRef, isError: true, reason)))
        }
        guard case .success(let topic) = PhoenixChannelName.topic(answer.topic), let channel = channels[topic],
            let pending = channel.pending, pending.isAsked(by: answer)
        else { return }
        channels[topic] = nil
        guard let older = channel.joined else { return }
        close(answer.topic, older, unless: answer.joinRef, &steps)
        ask(.unsubscribe([topic]), PhoenixAnswer(.nothing), &steps)
    }

    /// A token was refused: the channel that presented it ends, unless the token may only be presented later.
    private mutating func tokenRefused(
        _ answer: PhoenixAnswer, _ code: String, _ text: String, _ steps: inout [DialectStep]
    ) {
        guard case .success(let topic) = PhoenixChannelName.topic(answer.topic), let channel = channels[topic] else {
            return
        }
        if code == ErrorCode.rateLimited.rawValue {
            let notice = "access_token not taken: " + text
            return steps.append(.say(writer.system(topic, joinRef: channel.joinRef, isError: false, notice)))
        }
        end(topic, channel, text, &steps)
        ask(.unsubscribe([topic]), PhoenixAnswer(.nothing), &steps)
    }

    /// A channel ended without a request, or, without a topic, the connection is about to.
    private mutating func failed(
        _ topic: Topic?, _ code: String, _ text: String, _ steps: inout [DialectStep]
    ) {
        guard let topic else {
            // Without `phx_close`: clients would not join again after they reconnect.
            for (topic, channel) in channels {
                steps.append(.say(writer.system(topic, joinRef: channel.joinRef, isError: true, text)))
            }
            return
        }
        guard let channel = channels[topic], channel.isLost else { return }
        end(topic, channel, PhoenixReason.withdrawn(topic, code, text), &steps)
    }

    /// Sends the reason, then the end of the channel, and forgets the channel.
    private mutating func end(
        _ topic: Topic, _ channel: PhoenixChannel, _ text: String, _ steps: inout [DialectStep]
    ) {
        channels[topic] = nil
        steps.append(.say(writer.system(topic, joinRef: channel.joinRef, isError: true, text)))
        steps.append(.say(writer.closed(PhoenixChannelName.channel(of: topic), joinRef: channel.joinRef)))
    }
}
