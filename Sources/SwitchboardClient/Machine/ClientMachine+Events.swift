/// The updates of a topic: each event once and in order, or a gap.
extension ClientMachine {
    /// The answer to a subscribe makes a topic live; a response to an earlier request is ignored.
    mutating func subscribed(_ frame: Frame) {
        guard let name = frame.topic, var topic = topics[name], case .asked(let ref, _) = topic.stage, frame.ref == ref
        else { return }
        guard let answer = TopicPosition(frame.data) else { return rest(name, nil) }
        let asked = topic.position
        let recovered =
            topic.resumes && frame.data["recovered"]?.bool == true && asked?.epoch == answer.epoch
            && (asked?.offset ?? 0) <= answer.offset
        // Events that the recovery repeats need not be stored.
        let early = topic.early.filter { !recovered || ($0.offset ?? 0) > answer.offset }
        topic.early = recovered ? early : []
        topic.stage = .live
        topic.rests = 0
        topic.isAlone = false
        topic.asksAnew = false
        // The state of a recovery includes the events that are still to be received.
        let state = !recovered || asked == answer ? frame.data["state"] : nil
        if !recovered || state != nil {
            topic.state = state
            topic.stateAt = answer
            topic.sinceState = []
        }
        if !recovered { topic.position = answer }
        for index in topic.listeners.indices {
            let listener = topic.listeners[index]
            if recovered, !listener.isLive {
                greet(&topic, index)
                continue
            }
            topic.listeners[index].isLive = true
            if !recovered, listener.isLive, asked != nil, asked != answer {
                tell(listener.id, .gap(lostGap(from: asked, to: answer)))
            }
            tell(listener.id, .live(state: state, recovered: recovered, position: topic.position))
        }
        if topic.listeners.isEmpty, topic.tracked == nil { topic.lingerUntilMs = topic.lingerUntilMs ?? nowMs }
        topics[name] = topic
        trackAgain(name)
        if !recovered { for frame in early { event(frame) } }
    }

    /// The updates for a late iterator, which has seen no events: the last state, and the events since.
    ///
    /// - Parameter wantsCurrent: whether it wants the present state, and not an earlier one with events.
    func greeting(_ topic: TopicState, wantsCurrent: Bool) -> [TopicUpdate]? {
        guard let since = topic.sinceState, since.isEmpty || !wantsCurrent else { return nil }
        let position = since.isEmpty ? topic.position : topic.stateAt
        return [.live(state: topic.state, recovered: false, position: position)] + since.map { .event($0) }
    }

    /// Sends a listener its first updates; subscribes again where the stored state does not lead to the present.
    mutating func greet(_ topic: inout TopicState, _ index: Int, wantsCurrent: Bool = false) {
        guard let updates = greeting(topic, wantsCurrent: wantsCurrent) else {
            topic.asksAnew = true
            topic.asksAgain = true
            return
        }
        topic.listeners[index].isLive = true
        for update in updates { tell(topic.listeners[index].id, update) }
    }

    private func lostGap(from old: TopicPosition?, to new: TopicPosition?) -> TopicGap {
        guard let old, let new else { return TopicGap(reason: .notRecovered, missed: nil, position: new) }
        guard old.epoch == new.epoch else { return TopicGap(reason: .reset, missed: nil, position: new) }
        return TopicGap(
            reason: .notRecovered, missed: new.offset >= old.offset ? new.offset - old.offset : nil, position: new)
    }

    /// Delivers an event, stores it until an answer, drops it as a duplicate, or finds a hole before it.
    mutating func event(_ frame: Frame) {
        guard let name = frame.topic, var topic = topics[name] else { return }
        guard topic.isMember else {
            guard case .asked = topic.stage else { return }
            guard topic.early.count < TopicState.earlyMax else { return rest(name, nil, isTold: true) }
            topic.early.append(frame)
            topics[name] = topic
            return
        }
        guard let offset = frame.offset, let position = topic.position else { return deliver(frame, to: topic, nil) }
        if offset <= position.offset { return }
        guard offset - position.offset == 1 else { return hole(name) }
        topic.position = TopicPosition(epoch: position.epoch, offset: offset)
        topic.keep(TopicEvent(topic: name, name: frame.event, data: frame.data, position: topic.position))
        let isNext = topic.early.first?.offset.map { $0 - offset == 1 } == true
        let next = isNext ? topic.early.removeFirst() : nil
        topics[name] = topic
        deliver(frame, to: topic, topic.position)
        if let next { event(next) }
    }

    private mutating func deliver(_ frame: Frame, to topic: TopicState, _ position: TopicPosition?) {
        let event = TopicEvent(topic: frame.topic ?? "", name: frame.event, data: frame.data, position: position)
        for listener in topic.listeners where listener.isLive {
            tell(listener.id, .event(event))
        }
    }

    /// An event does not follow the last one, and no gap was reported: subscribes again from the present position.
    private mutating func hole(_ name: String) {
        guard var topic = topics[name] else { return }
        if case .asked = topic.stage { return }
        topic.stage = .wanted
        topics[name] = topic
        topicsChanged = true
        for listener in topic.listeners where listener.isLive { tell(listener.id, .pending(nil)) }
    }

    /// The gateway reported a gap: the position moves, and listeners are notified.
    mutating func gap(_ frame: Frame) {
        guard let name = frame.topic, var topic = topics[name] else { return }
        guard topic.isMember else {
            // The stored events precede the gap, perhaps in another epoch, and so may the answer: the topic is asked
            // for again.
            if case .asked = topic.stage { topics[name]?.stage = .wanted }
            return
        }
        let told = TopicGap.Reason(rawValue: frame.data["reason"]?.string ?? "") ?? .missed
        // An earlier state no longer leads to the present one.
        if topic.state != nil { topic.sinceState = nil }
        var gap = TopicGap(reason: .followed, missed: nil, position: topic.position)
        if let position = TopicPosition(frame.data) {
            gap.reason = told
            if let old = topic.position, old.epoch == position.epoch {
                // A gap never moves a position back within its epoch.
                if position.offset >= old.offset { gap.missed = position.offset - old.offset }
                topic.position = TopicPosition(epoch: old.epoch, offset: max(old.offset, position.offset))
            } else {
                topic.position = position
                topic.early = []
            }
            gap.position = topic.position
        }
        topics[name] = topic
        for listener in topic.listeners where listener.isLive { tell(listener.id, .gap(gap)) }
    }

    /// A list of members, in full or as a change; changes to an unknown list are dropped.
    mutating func presence(_ frame: Frame) {
        guard let name = frame.topic, var topic = topics[name], let members = topic.apply(presence: frame.data) else {
            return
        }
        topics[name] = topic
        for listener in topic.listeners where listener.wantsPresence { tell(listener.id, .members(members)) }
    }
}
