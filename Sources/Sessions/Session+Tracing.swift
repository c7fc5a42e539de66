import Connections
public import Core
import Dialects
import Rights
import Topics
public import Traces

/// The lines of the session in the log, its entries in the record of its shard, and its state for a question.
extension Session {
    /// The caller in the form of the record.
    static func traced(_ caller: Caller) -> (kind: TraceEntry.Caller, name: [UInt8]) {
        switch caller {
        case .anonymous: (.anonymous, [])
        case .publishable(let holder): (.anonymous, Array(holder.name.utf8))
        case .user(let identity): (identity.role == .service ? .service : .user, identity.user)
        case .service(let holder): (.service, Array(holder.name.utf8))
        }
    }

    /// The session without its history.
    public var traced: TracedSession {
        var session = TracedSession(number: number)
        (session.caller, session.name) = Session.traced(caller)
        session.address = address
        session.dialect = String(decoding: encoding.name, as: UTF8.self)
        (session.openedMs, session.isExcluding) = (openedMs, origin != nil)
        return session
    }

    /// Writes an error or a warning to the client into the log, where an operator looks for it.
    func log(_ message: ServerMessage) {
        switch message {
        case .warning(code: .rateLimited, let text, _): services.reports.log(.limited(message: text, nil), of: self)
        case .error(let code, let text, let topic, _):
            switch ErrorCode(rawValue: code) {
            case .unavailable, .internalError: services.reports.log(.failed(code: code, message: text, topic), of: self)
            case .rateLimited: services.reports.log(.limited(message: text, topic), of: self)
            default: break
            }
        default: break
        }
    }

    func note(_ change: @autoclosure () -> TraceEntry.Change) {
        services.trace.note(change(), of: number, &allowance)
    }

    /// Notes the first events that were not written, by topic.
    func note(unsent: [Topic: Position]) {
        for (topic, position) in unsent where hears(topic) { note(.unsent(topic, position)) }
    }

    /// Notes the user of a session that began without one.
    func named(_ user: [UInt8]) {
        services.users.began(self, of: user)
        note(.named(user))
    }

    /// Notes the end of the session, and the first events that were not written, queued or not.
    func noteEnd(_ reason: CloseReason, _ unsent: [Topic: Position]) {
        services.trace.ended(reason, of: number, since: openedMs, &allowance) {
            let (kind, name) = Session.traced(caller)
            let naming = TraceEntry.Change.opened(
                kind, name: name, address: address, dialect: encoding.name, sinceMs: openedMs)
            return origin != nil ? [naming, .excludes] : [naming]
        }
        if case .user(let identity) = caller { services.users.ended(self, of: identity.user) }
        for membership in Array(memberships) + followed.values {
            guard let place = membership.place,
                let first = unsent[membership.feed.topic] ?? membership.feed.firstPending(at: place)
            else { continue }
            note(.unsent(membership.feed.topic, first))
        }
    }

    /// Notes an event that the client reads too slowly to take.
    ///
    /// It stays out of the code that forwards events.
    @inline(never)
    func notWritten(_ delivery: Delivery) {
        guard let position = delivery.message.position else { return }
        note(.unsent(delivery.topic, position))
    }

    /// Notes that newer events replaced others of a topic in the queue.
    func note(conflated ranges: [ClosedRange<Int>], isWhole: Bool, epoch: [UInt8], of topic: Topic) {
        note(.conflated(topic, epoch: epoch, ranges, isWhole: isWhole))
    }

    /// The state of a live subscription; `nil` when the session has none on the topic.
    public func standing(on topic: Topic) -> TopicStay.Standing? {
        guard let membership = followed[topic] ?? memberships.first(where: { $0.feed.topic == topic }),
            let place = membership.place
        else { return nil }
        let waiting = output?.firstWaiting(of: topic) ?? membership.feed.firstPending(at: place)
        return TopicStay.Standing(
            handed: membership.feed.reached(at: place), waiting: waiting, isFollowed: followed[topic] != nil)
    }
}

extension Sequence<OutboundItem> {
    /// The position of the first event of each topic.
    var firstPositions: [Topic: Position] {
        var first: [Topic: Position] = [:]
        for case let delivery as Delivery in self {
            guard let position = delivery.message.position, first[delivery.topic] == nil else { continue }
            first[delivery.topic] = position
        }
        return first
    }
}
