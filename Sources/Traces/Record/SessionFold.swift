import Core

/// Makes sessions of the entries of a record, taken in their order.
///
/// Pure.
struct SessionFold {
    private var known: [UInt32: TracedSession] = [:]
    private var order: [UInt32] = []
    /// Rights that were taken away; the end of the subscription follows.
    private var withdrawn: [UInt32: (topic: Topic, cause: TopicStay.End.Cause)] = [:]

    /// The sessions, in the order of their first entries.
    var sessions: [TracedSession] { order.compactMap { known[$0] } }

    mutating func take(_ entry: TraceEntry) {
        guard entry.session > 0 else { return takeOfAll(entry) }
        var session = known[entry.session] ?? TracedSession(number: entry.session)
        if known[entry.session] == nil { order.append(entry.session) }
        take(entry, &session)
        known[entry.session] = session
    }

    private mutating func take(_ entry: TraceEntry, _ session: inout TracedSession) {
        let atMs = entry.atMs
        switch entry.change {
        case .opened(let caller, let name, let address, let dialect):
            (session.caller, session.name, session.address) = (caller, name, address)
            session.dialect = String(decoding: dialect, as: UTF8.self)
            session.openedMs = atMs
        case .named(let user): (session.caller, session.name) = (.user, user)
        case .subscribed(let topic, let at, let since, let isRecovered, let isFollowed):
            var stay = TopicStay(topic: topic)
            (stay.subscribedMs, stay.at, stay.since) = (atMs, at, since)
            (stay.isRecovered, stay.isFollowed) = (isRecovered, isFollowed)
            session.stays.append(stay)
        case .left(let topic, let handed): leave(topic, handed, atMs, &session)
        case .refused(let topic, let code, let message):
            session.refused.append(
                TracedSession.Refused(
                    atMs: atMs, topic: topic, code: String(decoding: code, as: UTF8.self),
                    message: String(decoding: message, as: UTF8.self)))
        case .withdrawn(let topic, let code, let message):
            let cause = TopicStay.End.Cause.withdrawn(
                code: String(decoding: code, as: UTF8.self), message: String(decoding: message, as: UTF8.self))
            withdrawn[entry.session] = (topic, cause)
        case .conflated(let topic, let epoch, let ranges, let isWhole):
            let conflated = TopicStay.Conflated(atMs: atMs, epoch: epoch, ranges: ranges, isWhole: isWhole)
            SessionFold.change(topic, of: &session) { $0.conflated.append(conflated) }
        case .gap(let topic, let from, let to, let isReset):
            let gap = TopicStay.Gap(atMs: atMs, from: from, to: to, isReset: isReset)
            SessionFold.change(topic, of: &session) { $0.gaps.append(gap) }
        case .unsent(let topic, let position):
            SessionFold.change(topic, of: &session) { $0.unsent = $0.unsent ?? position }
        case .token(let failure):
            session.tokens.append(
                TracedSession.RefusedToken(atMs: atMs, failure: String(decoding: failure, as: UTF8.self)))
        case .closed(let reason): session.closed = TracedSession.Closing(atMs: atMs, reason: reason)
        case .full: session.isFull = true
        }
    }

    /// A gap for all members concerns every subscription that was live; of one without an entry nothing is known.
    private mutating func takeOfAll(_ entry: TraceEntry) {
        guard case .gap(let topic, let from, let to, let isReset) = entry.change else { return }
        let gap = TopicStay.Gap(atMs: entry.atMs, from: from, to: to, isReset: isReset)
        for number in order {
            guard let index = known[number]?.stays.lastIndex(where: { $0.topic == topic && $0.end == nil }) else {
                continue
            }
            known[number]?.stays[index].gaps.append(gap)
        }
    }

    private mutating func leave(_ topic: Topic, _ handed: Position?, _ atMs: Int, _ session: inout TracedSession) {
        var cause = session.closed.map { TopicStay.End.Cause.closed($0.reason) } ?? .left
        if let right = withdrawn[session.number], right.topic == topic {
            withdrawn[session.number] = nil
            cause = right.cause
        }
        let end = TopicStay.End(atMs: atMs, cause: cause, handed: handed)
        SessionFold.change(topic, of: &session) { $0.end = end }
    }

    /// Changes the live subscription to a topic; one whose beginning is too old for the record begins here.
    private static func change(_ topic: Topic, of session: inout TracedSession, _ change: (inout TopicStay) -> Void) {
        if let index = session.stays.lastIndex(where: { $0.topic == topic && $0.end == nil }) {
            return change(&session.stays[index])
        }
        var stay = TopicStay(topic: topic)
        change(&stay)
        session.stays.append(stay)
    }
}
