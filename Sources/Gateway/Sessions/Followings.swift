import Core
import Dialects
import Rights
import Transport

/// The topics a session's own topic follows: joined by the gateway, told to the client as events of its own topic.
///
/// A post is published once, on its author's topic; whoever follows the author has joined that topic here, so that the
/// publish costs the same however many follow (design: feed). The set `<topic>#follows` says what is followed; an
/// event `follows:changed` on the own topic says that it changed. Events told this way bear no offset, since they
/// have no place in the own topic's log; a hole is told by `gap` without a position. Thread: the shard's.
final class Followings {
    private struct Entry {
        /// `nil` until the topic table knows the session.
        var feed: TopicFeed<Session>?
        /// The place among the members; `nil` while joining.
        var place: Int?
        var isLive = false
    }

    /// The own topic.
    let topic: Topic
    private unowned let session: Session
    private var entries: [Topic: Entry] = [:]
    private var isReading = false
    private var isStale = false
    private var isOver = false
    /// Called once, when everything followed at first is live, or cannot be.
    private var onStart: ((Refusal?) -> Void)?

    /// The event by which the scripts tell that the set changed.
    private static let changedEvent = Array("follows:changed".utf8)

    /// Begins with the first ``read()``.
    init(_ topic: Topic, session: Session, onStart: @escaping (Refusal?) -> Void) {
        self.topic = topic
        self.session = session
        self.onStart = onStart
    }

    /// Whether what is followed at first is not live yet.
    var isStarting: Bool { onStart != nil }

    /// Whether the session is on that topic only because its own follows it.
    func owns(_ topic: Topic) -> Bool { entries[topic] != nil }

    /// Leaves everything.
    func end() {
        isOver = true
        onStart = nil
        for topic in Array(entries.keys) { leave(topic) }
    }

    /// Gives a topic up, because the client joins it itself.
    func yield(_ topic: Topic) {
        leave(topic)
        startIfLive()
    }

    private func leave(_ topic: Topic) {
        guard let entry = entries.removeValue(forKey: topic), let feed = entry.feed else { return }
        session.shard.topics.leave(session, feed, place: entry.place)
    }

    // MARK: The set

    /// Reads the set again: it changed, or a topic of it could not be joined.
    func read() {
        guard !isOver else { return }
        guard !isReading else {
            isStale = true
            return
        }
        isReading = true
        session.shard.store.follows(topic) { [self] result in
            isReading = false
            guard !isOver else { return }
            switch result {
            case .success(let topics): follow(Set(topics))
            case .failure(let refusal): failed(refusal)
            }
            if isStale {
                isStale = false
                read()
            }
        }
    }

    private func follow(_ wanted: Set<Topic>) {
        for topic in entries.keys.filter({ !wanted.contains($0) }) { leave(topic) }
        for topic in wanted where entries[topic] == nil && topic != self.topic && !session.holds(topic) {
            // The set is data like any other: it opens nothing that the user could not open.
            guard session.shard.node.access.subscribe(topic, session.caller) == .allow else { continue }
            entries[topic] = Entry()
            session.shard.topics.join(session, SubscribeRequest(topic: topic, since: nil), ref: nil)
        }
        startIfLive()
    }

    private func startIfLive() {
        guard onStart != nil, !isReading, entries.values.allSatisfy(\.isLive) else { return }
        finishStart(nil)
    }

    private func finishStart(_ refusal: Refusal?) {
        let completion = onStart
        onStart = nil
        completion?(refusal)
    }

    private func failed(_ refusal: Refusal) {
        if onStart != nil { finishStart(refusal) } else { session.shard.readFollowingsLater(self) }
    }

    // MARK: From the topics

    func joins(_ feed: TopicFeed<Session>) { entries[feed.topic]?.feed = feed }

    func moved(to place: Int, in feed: TopicFeed<Session>) { entries[feed.topic]?.place = place }

    func refused(_ refusal: Refusal, topic: Topic) {
        entries[topic] = nil
        failed(refusal)
    }

    /// What the client is told instead of a message about a followed topic; `nil` for nothing.
    func translated(_ message: ServerMessage) -> ServerMessage? {
        switch message {
        case .subscribed(let topic, _, _, _) where owns(topic):
            entries[topic]?.isLive = true
            startIfLive()
            return nil
        case .gap(let topic, _, let reason) where owns(topic):
            return .gap(topic: self.topic, position: nil, reason: reason)
        case .gap(let topic, _, _) where topic == self.topic:
            // What was missed may have been a change of the set.
            read()
            return message
        default:
            return message
        }
    }

    /// The event as the client gets it.
    func shown(_ delivery: Delivery) -> Delivery {
        if delivery.topic == topic {
            if delivery.message.event.bytes == Followings.changedEvent { read() }
            return delivery
        }
        guard owns(delivery.topic) else { return delivery }
        let event = delivery.message
        return Delivery(
            topic: topic, message: ChannelMessage(position: nil, event: event.event, id: event.id, data: event.data),
            variants: session.shard.node.dialects.count, counts: delivery.counts)
    }
}
