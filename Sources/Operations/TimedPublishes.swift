public import Core
import Reactors
import Synchronization

/// The last publishes of this node whose way to the members is being timed, few in a second.
///
/// A thread that sends a publish to Redis offers it; each shard with members of the topic times the event once. Nothing
/// of an event says when it was published, so it is known by its topic, its name, its id and its data. Thread: any.
public final class TimedPublishes: Sendable {
    /// A publish to be timed.
    public struct Publish: Sendable {
        /// The topic of the event.
        public let topic: Topic
        /// The begin of the tick that read the publish, monotonic microseconds.
        public let readUs: Int
        private let event: EventName
        private let id: MessageID?
        private let bytes: Int
        private let hash: UInt64

        init(_ topic: Topic, _ event: EventName, _ id: MessageID?, _ data: [UInt8], readUs: Int) {
            (self.topic, self.event, self.id, self.readUs) = (topic, event, id, readUs)
            (bytes, hash) = (data.count, StableHash.of(data))
        }

        /// Whether an event of the topic may be this publish: they have name, id and data in common.
        public func isOf(_ message: ChannelMessage) -> Bool {
            message.event == event && message.id == id && message.data.count == bytes
                && StableHash.of(message.data) == hash
        }
    }

    /// The shortest time between two of them, which bounds the cost at any rate of publishes.
    static let pauseUs = 50_000
    /// The most publishes kept; a shard that stands still for longer than these took misses some.
    static let keptMax = 256

    private let kept = Guarded<[Publish]>([])
    private let offeredUs = Atomic<Int>(Int.min / 2)
    private let count = Atomic<Int>(0)

    /// Begins without a publish.
    public init() {}

    /// Takes a publish unless another one was taken just before `nowUs`; `data` is evaluated only then.
    ///
    /// The time at which it was read does not matter for that: it may have waited for a slow Redis.
    public func offer(
        _ topic: Topic, _ event: EventName, _ id: MessageID?, data: @autoclosure () -> [UInt8], readUs: Int, nowUs: Int
    ) {
        let last = offeredUs.load(ordering: .relaxed)
        guard nowUs - last >= TimedPublishes.pauseUs,
            offeredUs.compareExchange(expected: last, desired: nowUs, ordering: .relaxed).exchanged
        else { return }
        let publish = Publish(topic, event, id, data(), readUs: readUs)
        kept.withLock { kept in
            kept.append(publish)
            if kept.count > TimedPublishes.keptMax { kept.removeFirst() }
            count.add(1, ordering: .releasing)
        }
    }

    /// The number of publishes taken so far; it changes with each.
    public var number: Int { count.load(ordering: .acquiring) }

    /// The kept publishes behind the first `seen`, the oldest first, and the number of all taken.
    public func taken(after seen: Int) -> (publishes: ArraySlice<Publish>, number: Int) {
        kept.withLock { kept in
            let number = count.load(ordering: .acquiring)
            return (kept.suffix(number - seen), number)
        }
    }
}
