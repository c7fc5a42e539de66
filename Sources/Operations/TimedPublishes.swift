public import Core
import Reactors
import Synchronization

/// The publish of this node whose way to the members is being timed: one at a time, few in a second.
///
/// A thread that sends a publish to Redis offers it; each shard with members of the topic times the event once. Nothing
/// of an event says when it was published, so it is known by its topic and its data. Thread: any.
public final class TimedPublishes: Sendable {
    /// A publish to be timed.
    public struct Publish: Sendable {
        /// The topic of the event.
        public let topic: Topic
        /// The data of the event.
        public let data: [UInt8]
        /// The begin of the tick that read the publish, monotonic microseconds.
        public let readUs: Int
    }

    /// The shortest time between two of them, which bounds the cost at any rate of publishes.
    static let pauseUs = 50_000

    private let newest = Guarded<Publish?>(nil)
    private let readUs = Atomic<Int>(Int.min / 2)
    private let count = Atomic<Int>(0)

    /// Begins without a publish.
    public init() {}

    /// Takes a publish unless another one was taken just before; `data` is evaluated only then.
    public func offer(_ topic: Topic, readUs now: Int, data: @autoclosure () -> [UInt8]) {
        let last = readUs.load(ordering: .relaxed)
        guard now - last >= TimedPublishes.pauseUs,
            readUs.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        let publish = Publish(topic: topic, data: data(), readUs: now)
        newest.withLock { $0 = publish }
        count.add(1, ordering: .releasing)
    }

    /// The number of publishes taken so far; it changes with each.
    public var number: Int { count.load(ordering: .acquiring) }

    /// The publish taken last.
    public var latest: Publish? { newest.withLock { $0 } }
}
