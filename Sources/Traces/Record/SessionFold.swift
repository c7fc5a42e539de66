import Core

/// Makes sessions of the entries of a record, taken in their order.
///
/// Bounded for each session: beyond, the oldest go and the session counts as not whole. Pure.
struct SessionFold {
    private var known: [UInt32: TracedSession] = [:]
    private var order: [UInt32] = []
    private var ends: [UInt32] = []
    /// Rights that were taken away; the end of the subscription follows.
    private var withdrawn: [UInt32: (topic: Topic, cause: TopicStay.End.Cause)] = [:]
    /// The topic in question.
    private let about: Topic?
    /// The gaps that all members of the topic in question received.
    private(set) var gaps: [TopicStay.Gap] = []

    /// Subscriptions, refusals and tokens of a session, and gaps and conflations of a subscription.
    private static let partsMax = 64

    /// Folds what concerns a topic, or everything.
    init(about: Topic?) {
        self.about = about
    }

    /// The sessions, in the order of their first entries.
    var sessions: [TracedSession] { order.compactMap { known[$0] } }
    /// The sessions that have ended, in the order of their ends.
    var ended: [TracedSession] { ends.compactMap { known[$0] } }

    mutating func take(_ entry: TraceEntry) {
        guard entry.session > 0 else { return takeOfAll(entry) }
        var session = known.removeValue(forKey: entry.session) ?? begin(entry.session)
        take(entry, &session)
        if session.stays.count > SessionFold.partsMax {
            session.stays.removeFirst()
            session.isFull = true
        }
        known[entry.session] = session
    }

    private mutating func begin(_ number: UInt32) -> TracedSession {
        order.append(number)
        return TracedSession(number: number)
    }

    private mutating func take(_ entry: TraceEntry, _ session: inout TracedSession) {
        let atMs = entry.atMs
        switch entry.change {
        case .opened(let caller, let name, let address, let dialect, let sinceMs):
            (session.caller, session.name, session.address) = (caller, name, address)
            session.dialect = String(decoding: dialect, as: UTF8.self)
            session.openedMs = sinceMs
        case .named(let user): (session.caller, session.name) = (.user, user)
        case .excludes: session.isExcluding = true
        case .subscribed(let topic, let at, let since, let isRecovered, let isFollowed):
            var stay = TopicStay(topic: topic)
            (stay.subscribedMs, stay.at, stay.since) = (atMs, at, since)
            (stay.isRecovered, stay.isFollowed) = (isRecovered, isFollowed)
            session.stays.append(stay)
        case .left(let topic, let handed): leave(topic, handed, atMs, &session)
        case .refused(let topic, let code, let message):
            guard session.refused.count < SessionFold.partsMax else { return }
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
            change(topic, of: &session) { SessionFold.append(conflated, to: &$0.conflated) }
        case .gap(let topic, let from, let to, let isReset):
            let gap = TopicStay.Gap(atMs: atMs, from: from, to: to, isReset: isReset)
            change(topic, of: &session) { SessionFold.append(gap, to: &$0.gaps) }
        case .unsent(let topic, let position):
            change(topic, of: &session) {
                $0.unsent = $0.unsent ?? position
                return true
            }
        case .token(let failure):
            guard session.tokens.count < SessionFold.partsMax else { return }
            session.tokens.append(
                TracedSession.RefusedToken(atMs: atMs, failure: String(decoding: failure, as: UTF8.self)))
        case .closed(let reason):
            session.closed = TracedSession.Closing(atMs: atMs, reason: reason)
            ends.append(session.number)
        case .full: session.isFull = true
        }
    }

    /// Appends a part; false when the oldest one went for it.
    private static func append<Part>(_ part: Part, to parts: inout [Part]) -> Bool {
        parts.append(part)
        guard parts.count > partsMax else { return true }
        parts.removeFirst()
        return false
    }

    /// A gap for all members concerns every subscription that is live, and those whose beginning is not known yet.
    private mutating func takeOfAll(_ entry: TraceEntry) {
        guard case .gap(let topic, let from, let to, let isReset) = entry.change else { return }
        let gap = TopicStay.Gap(atMs: entry.atMs, from: from, to: to, isReset: isReset)
        if topic == about { _ = SessionFold.append(gap, to: &gaps) }
        for number in order {
            guard let index = known[number]?.stays.lastIndex(where: { $0.topic == topic && $0.end == nil }) else {
                continue
            }
            change(index, of: &known[number, default: TracedSession(number: number)]) {
                SessionFold.append(gap, to: &$0.gaps)
            }
        }
    }

    private mutating func leave(_ topic: Topic, _ handed: Position?, _ atMs: Int, _ session: inout TracedSession) {
        var cause = session.closed.map { TopicStay.End.Cause.closed($0.reason) } ?? .left
        if let right = withdrawn[session.number], right.topic == topic {
            withdrawn[session.number] = nil
            cause = right.cause
        }
        let end = TopicStay.End(atMs: atMs, cause: cause, handed: handed)
        change(topic, of: &session) {
            $0.end = end
            return true
        }
    }

    /// Changes the live subscription to a topic; one whose beginning is too old for the record begins here.
    private func change(_ topic: Topic, of session: inout TracedSession, _ change: (inout TopicStay) -> Bool) {
        if !session.stays.contains(where: { $0.topic == topic && $0.end == nil }) {
            var stay = TopicStay(topic: topic)
            if topic == about { stay.gaps = gaps }
            session.stays.append(stay)
        }
        guard let index = session.stays.lastIndex(where: { $0.topic == topic && $0.end == nil }) else { return }
        self.change(index, of: &session, change)
    }

    /// Changes a subscription; false from `change` means that a part went for it.
    private func change(_ index: Int, of session: inout TracedSession, _ change: (inout TopicStay) -> Bool) {
        if !change(&session.stays[index]) { session.isFull = true }
    }
}
