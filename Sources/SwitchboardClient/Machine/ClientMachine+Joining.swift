/// Joining and leaving topics.
extension ClientMachine {
    /// An iterator begins to read a topic; on a live topic it receives updates at once.
    mutating func join(_ name: String, _ listener: Int, _ presence: Bool, _ since: TopicPosition?, wantsCurrent: Bool) {
        guard TopicState.isName(name) else {
            let error = SwitchboardError(.server("bad_request"), "There can be no topic of this name.")
            return outputs.append(.end(listener: listener, error))
        }
        // An invalid epoch would make a message that ends the connection.
        let since = since.flatMap { (1...64).contains($0.epoch.utf8.count) ? $0 : nil }
        var entry = TopicState.Listener(id: listener, wantsPresence: presence)
        var topic = topics[name] ?? TopicState()
        if topics[name] == nil {
            topicOrder.append(name)
            topic.position = since
            entry.isLive = since != nil
        } else if topic.position == nil, topic.stage != .live, let since {
            topic.position = since
            entry.isLive = true
        } else if let since, since != topic.position {
            tell(listener, .gap(TopicGap(reason: .notRecovered, missed: nil, position: topic.position)))
        }
        topic.lingerUntilMs = nil
        topic.listeners.append(entry)
        if topic.stage == .live {
            if presence, !topic.hasPresence {
                topic.asksAgain = true
            } else {
                greet(&topic, topic.listeners.count - 1, wantsCurrent: wantsCurrent)
                if presence, let members = topic.members { tell(listener, .members(members)) }
            }
        }
        topics[name] = topic
    }

    /// The app requests the state again: subscribes without a position.
    mutating func resynchronise(_ name: String) {
        guard var topic = topics[name] else { return }
        topic.asksAnew = true
        if topic.stage == .live { topic.asksAgain = true }
        topics[name] = topic
    }

    /// Sends an update to one iterator.
    mutating func tell(_ listener: Int, _ update: TopicUpdate) {
        outputs.append(.tell(listener: listener, update))
    }

    /// An iterator ended; the topic of the last one lingers for `lingerMs`.
    mutating func leave(_ name: String, _ listener: Int) {
        guard var topic = topics[name] else { return }
        topic.listeners.removeAll { $0.id == listener }
        if topic.listeners.isEmpty, topic.tracked == nil { topic.lingerUntilMs = nowMs + times.lingerMs }
        topics[name] = topic
    }

    /// Lists the client at a topic with this JSON text, or removes it for `nil`; does nothing while the client is
    /// stopped.
    mutating func track(_ name: String, _ meta: String?) {
        guard phase != .stopped else { return }
        guard var topic = topics[name] else {
            guard meta != nil else { return }
            var topic = TopicState()
            topic.tracked = meta
            topics[name] = topic
            return topicOrder.append(name)
        }
        let wasTracked = topic.tracked != nil
        topic.tracked = meta
        if topic.stage == .live, meta != nil || wasTracked { sendTrack(name, meta) }
        topic.lingerUntilMs = topic.listeners.isEmpty && meta == nil ? nowMs + times.lingerMs : nil
        topics[name] = topic
    }

    private mutating func sendTrack(_ name: String, _ meta: String?) {
        asks += 1
        let topic = JSONValue.quoted(name)
        if let meta {
            send(#"{"event":"track","data":{"topic":\#(topic),"meta":\#(meta)},"ref":"!t\#(asks)"}"#)
        } else {
            send(#"{"event":"untrack","data":{"topic":\#(topic)},"ref":"!t\#(asks)"}"#)
        }
    }

    private mutating func remove(topic name: String) {
        topics[name] = nil
        topicOrder.removeAll { $0 == name }
    }

    // MARK: Time

    /// Wakes topics whose pause has ended, and leaves those without readers for `lingerMs`.
    mutating func runTopicTimers() {
        guard mustLookAtTopics else { return }
        for name in topicOrder {
            guard var topic = topics[name] else { continue }
            if case .resting(let until) = topic.stage, nowMs >= until {
                topic.stage = .wanted
                topics[name] = topic
            }
            guard let linger = topic.lingerUntilMs, nowMs >= linger else { continue }
            switch topic.stage {
            case .live:
                asks += 1
                topic.stage = .leaving(ref: "!u\(asks)")
                topic.lingerUntilMs = nil
                topics[name] = topic
                let data = #"{"topic":\#(JSONValue.quoted(name))}"#
                send(#"{"event":"unsubscribe","data":\#(data),"ref":"!u\#(asks)"}"#)
            case .wanted, .resting: remove(topic: name)
            // The answer is still to be received; the topic has no readers until then.
            case .asked, .leaving: break
            }
        }
    }

    /// The times of the machine's clock at which topics need a `tick`.
    var topicWakes: [Int64] {
        var due: [Int64] = []
        var waits = false
        for topic in topics.values {
            if case .resting(let until) = topic.stage { due.append(until) }
            switch topic.stage {
            // It waits for an answer, and not for a time.
            case .asked, .leaving: break
            case .wanted, .live, .resting: if let linger = topic.lingerUntilMs { due.append(linger) }
            }
            if topic.isToBeAsked { waits = true }
        }
        if waits, phase == .ready, leaveAtMs == nil { due.append(joins.nextAtMs) }
        return due
    }

    /// The connection ended: no subscription or answer of it counts any more.
    mutating func topicsLost() {
        for name in topicOrder {
            guard var topic = topics[name] else { continue }
            let wasMember = topic.isMember
            topic.stage = .wanted
            topic.asksAgain = false
            topic.early = []
            topic.members = nil
            topic.rests = 0
            if topic.listeners.isEmpty, topic.tracked == nil, topic.lingerUntilMs == nil {
                remove(topic: name)
                continue
            }
            topics[name] = topic
            guard wasMember else { continue }
            for listener in topic.listeners where listener.isLive { tell(listener.id, .pending(nil)) }
        }
    }

    // MARK: Asking

    /// Subscribes to every wanted topic, as many as the gateway's rate of joins allows, in one message.
    mutating func flushTopics() {
        guard leaveAtMs == nil, mustLookAtTopics else { return }
        var room = joins.available(nowMs)
        guard room > 0 else { return }
        var batch: [String] = []
        for name in topicOrder where room > 0 {
            guard let topic = topics[name], topic.isToBeAsked else { continue }
            room -= 1
            joins.take(1)
            if topic.isAlone { ask([name]) } else { batch.append(name) }
        }
        if !batch.isEmpty { ask(batch) }
    }

    private mutating func ask(_ names: [String]) {
        asks += 1
        let ref = "!s\(asks)"
        var wanted: [JSONValue] = []
        for name in names {
            guard var topic = topics[name] else { continue }
            topic.stage = .asked(ref: ref, wasLive: topic.stage == .live)
            topic.asksAgain = false
            // Stored events belong to an earlier answer, perhaps in another epoch.
            topic.early = []
            topic.hasPresence = topic.wantsPresence
            var entry: [String: JSONValue] = ["topic": .string(name)]
            if topic.resumes, let position = topic.position { entry["since"] = position.json }
            if topic.wantsPresence { entry["presence"] = true }
            topics[name] = topic
            wanted.append(.object(entry))
        }
        let data: JSONValue = wanted.count == 1 ? wanted[0] : ["topics": .array(wanted)]
        send(#"{"event":"subscribe","data":\#(data.text),"ref":"\#(ref)"}"#)
    }

    /// A join was refused, or a subscription has ended.
    mutating func refused(_ frame: Frame, _ error: SwitchboardError) {
        let wait = clamped(frame.data["retryAfterMs"])
        let names: [String]
        if let name = frame.topic {
            names = [name]
        } else {
            names = topicOrder.filter {
                if case .asked(frame.ref ?? "", _) = topics[$0]?.stage { true } else { false }
            }
        }
        for name in names { refuse(name, error, alone: names.count > 1, waitMs: wait, isAsked: frame.ref != nil) }
    }

    private mutating func refuse(
        _ name: String, _ error: SwitchboardError, alone: Bool, waitMs: Int64?, isAsked: Bool
    ) {
        guard var topic = topics[name] else { return }
        var isMember = topic.stage == .live
        if case .asked(_, let wasLive) = topic.stage {
            isMember = wasLive
        } else if isAsked {
            return
        }
        guard case .server(let code) = error.code else { return }
        switch code {
        case "rate_limited", "unavailable", "conflict", "internal":
            if code == "rate_limited" { joins.empty(forMs: waitMs ?? 100) }
            rest(name, error, atLeastMs: waitMs ?? 0, isTold: isMember)
        case _ where alone:
            // One of them is at fault; each is asked for alone, to find out which.
            topic.isAlone = true
            topic.stage = .wanted
            topics[name] = topic
        default:
            remove(topic: name)
            for listener in topic.listeners { outputs.append(.end(listener: listener.id, error)) }
        }
    }

    /// Subscribes to a topic again after a pause that grows.
    mutating func rest(_ name: String, _ error: SwitchboardError?, atLeastMs: Int64 = 0, isTold: Bool = false) {
        guard var topic = topics[name] else { return }
        topic.rests = min(topic.rests + 1, 10)
        topic.early = []
        let most = min(times.backoffMinMs << Int64(topic.rests), 5_000)
        let pause = max(atLeastMs, Int64.random(in: min(times.backoffMinMs, most)...most, using: &dice))
        topic.stage = .resting(untilMs: nowMs + pause)
        topics[name] = topic
        topicsChanged = true
        guard isTold || topic.rests == 1 else { return }
        for listener in topic.listeners { tell(listener.id, .pending(error)) }
    }

    /// The answer to an unsubscribe, or the gateway's end of a subscription.
    mutating func unsubscribed(_ frame: Frame) {
        guard let name = frame.topic, var topic = topics[name] else { return }
        if case .leaving(let ref) = topic.stage {
            guard frame.ref == ref else { return }
            if topic.listeners.isEmpty, topic.tracked == nil { return remove(topic: name) }
            topic.stage = .wanted
            topics[name] = topic
        } else if frame.ref == nil, topic.isMember {
            // The gateway ended it. An `error` follows if the end is permanent.
            topic.rests += 1
            topic.stage = .resting(untilMs: nowMs + Int64.random(in: 500...1_500, using: &dice))
            topics[name] = topic
            for listener in topic.listeners { tell(listener.id, .pending(nil)) }
        }
    }

    /// Lists the client at a topic that it has just joined.
    mutating func trackAgain(_ name: String) {
        if let meta = topics[name]?.tracked { sendTrack(name, meta) }
    }
}
