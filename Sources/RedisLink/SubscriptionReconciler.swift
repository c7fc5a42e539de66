import Core

/// Makes the channels a connection is subscribed to equal the channels that are wanted (failure catalogue R16, R17).
///
/// It keeps what is wanted and what the server has said, never a list of events to replay: after any disturbance the
/// difference between the two is what remains to be sent. For each channel at most one call is in flight, so a
/// confirmation can only mean that one. Channels are wanted or not, without counting: the directory above counts.
///
/// After ``connected()`` everything wanted is subscribed again, in batches. At most `unconfirmedMax` channels are
/// asked for and not confirmed, so that 100 000 of them do not fill the server's output buffer. No call does work
/// that grows with the number of channels, except that ``next()`` passes over each once per connection.
public struct SubscriptionReconciler<Channel: Hashable & Sendable>: Sendable {
    /// A call to send now, with at most `batchMax` channels.
    public enum Action: Equatable, Sendable {
        /// `SUBSCRIBE` of these.
        case subscribe([Channel])
        /// `UNSUBSCRIBE` of these.
        case unsubscribe([Channel])
    }

    /// Where a wanted channel stands.
    public enum Standing: Equatable, Sendable {
        /// Redis has not confirmed it; ``Confirmation/live(_:)`` will tell.
        case pending
        /// Redis delivers it, without interruption since this number.
        case live(UInt64)
    }

    /// What a confirmation meant.
    public enum Confirmation: Equatable, Sendable {
        /// The channel is live from now on. Numbers grow with each such event of any channel and connection: what
        /// was published before it may have been missed, so positions are compared with the log now.
        case live(UInt64)
        /// It is no longer wanted; an unsubscribe follows.
        case unwanted
        /// It is gone, as it should be.
        case gone
        /// It is gone and wanted again; a subscribe follows.
        case resubscribing
        /// Nothing was in flight that this could confirm: the server is not what it should be.
        case unexpected
    }

    private enum State {
        /// The server does not have it.
        case absent
        case subscribing
        case live
        case unsubscribing
    }

    private struct Slot {
        let channel: Channel
        var wanted: Bool
        var state: State
        /// Whether the slot is in ``toSubscribe`` and in ``toUnsubscribe`` of this connection.
        var queuedToSubscribe = false
        var queuedToUnsubscribe = false
        /// The connection all but `wanted` speaks of; what an older one left is void.
        var connection: UInt64
        var liveSince: UInt64
    }

    private var index: [Channel: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    /// Slots to subscribe or unsubscribe, unless they have changed when they are taken out.
    private var toSubscribe = Ring<Int>()
    private var toUnsubscribe = Ring<Int>()
    /// Whether the last call was a subscribe: the two kinds take turns, so that neither starves.
    private var subscribedLast = false
    /// Slots from here on have not been looked at since the connection began.
    private var cursor = 0
    private var connection: UInt64 = 0
    private var isConnected = false
    private var liveCounter: UInt64 = 0
    private var unconfirmed = 0
    private let batchMax: Int
    private let unconfirmedMax: Int

    /// Makes a reconciler without channels, not connected.
    public init(batchMax: Int, unconfirmedMax: Int) {
        self.batchMax = max(1, batchMax)
        self.unconfirmedMax = max(self.batchMax, unconfirmedMax)
    }

    /// How many channels are known: wanted, or not yet gone from the server.
    public var count: Int { index.count }

    /// Whether everything wanted is live and nothing else is subscribed.
    public var isSettled: Bool {
        isConnected && unconfirmed == 0 && toSubscribe.isEmpty && toUnsubscribe.isEmpty && cursor == slots.count
    }

    /// Wants a channel; wanting it twice is wanting it once.
    public mutating func want(_ channel: Channel) -> Standing {
        guard let position = index[channel] else {
            add(channel)
            return .pending
        }
        update(position) { $0.wanted = true }
        enqueueIfNeeded(position)
        guard let slot = slots[position], slot.state == .live else { return .pending }
        return .live(slot.liveSince)
    }

    /// Ceases to want a channel; an unknown one is ignored.
    public mutating func unwant(_ channel: Channel) {
        guard let position = index[channel] else { return }
        update(position) { $0.wanted = false }
        enqueueIfNeeded(position)
        freeIfDone(position)
    }

    /// Since when the channel is live without interruption; `nil` while it is not.
    public func liveSince(_ channel: Channel) -> UInt64? {
        guard isConnected, let position = index[channel], let slot = slots[position], slot.connection == connection,
            slot.state == .live
        else { return nil }
        return slot.liveSince
    }

    /// A new connection is ready for `SUBSCRIBE`; the server has no channel of it.
    public mutating func connected() {
        beginConnection()
        isConnected = true
    }

    /// The connection is gone, and every channel with it.
    public mutating func disconnected() {
        beginConnection()
        isConnected = false
    }

    /// The next call to send; `nil` when nothing is to be sent now.
    ///
    /// Called until `nil` after every other call.
    public mutating func next() -> Action? {
        guard isConnected else { return nil }
        let room = min(batchMax, unconfirmedMax - unconfirmed)
        guard room > 0 else { return nil }
        let first = subscribedLast ? takeUnsubscribes(room) : takeSubscribes(room)
        if let first { return first }
        return subscribedLast ? takeSubscribes(room) : takeUnsubscribes(room)
    }

    /// Redis confirmed a subscription.
    public mutating func confirmed(_ channel: Channel) -> Confirmation {
        guard isConnected, let position = index[channel], let slot = slots[position],
            slot.connection == connection, slot.state == .subscribing
        else { return .unexpected }
        unconfirmed -= 1
        liveCounter += 1
        let since = liveCounter
        update(position) {
            $0.state = .live
            $0.liveSince = since
        }
        guard !slot.wanted else { return .live(since) }
        enqueueIfNeeded(position)
        return .unwanted
    }

    /// Redis confirmed the end of a subscription, or ended a live one of itself (a moved slot, a changed ACL).
    public mutating func unsubscribed(_ channel: Channel) -> Confirmation {
        guard isConnected, let position = index[channel], let slot = slots[position],
            slot.connection == connection, slot.state == .unsubscribing || slot.state == .live
        else { return .unexpected }
        if slot.state == .unsubscribing { unconfirmed -= 1 }
        update(position) { $0.state = .absent }
        enqueueIfNeeded(position)
        freeIfDone(position)
        return slot.wanted ? .resubscribing : .gone
    }

    // MARK: Slots

    private mutating func add(_ channel: Channel) {
        let slot = Slot(
            channel: channel, wanted: true, state: .absent, connection: connection, liveSince: 0)
        let position: Int
        if let reused = free.popLast() {
            slots[reused] = slot
            position = reused
        } else {
            slots.append(slot)
            position = slots.count - 1
        }
        index[channel] = position
        enqueueIfNeeded(position)
    }

    /// Changes a slot after voiding what it says of an older connection.
    private mutating func update(_ position: Int, _ change: (inout Slot) -> Void) {
        guard var slot = slots[position] else { return }
        if slot.connection != connection {
            slot.connection = connection
            slot.state = .absent
            slot.queuedToSubscribe = false
            slot.queuedToUnsubscribe = false
        }
        change(&slot)
        slots[position] = slot
    }

    private static func needsSubscribe(_ slot: Slot) -> Bool { slot.wanted && slot.state == .absent }
    private static func needsUnsubscribe(_ slot: Slot) -> Bool { !slot.wanted && slot.state == .live }

    private mutating func enqueueIfNeeded(_ position: Int) {
        guard isConnected, let slot = slots[position] else { return }
        if SubscriptionReconciler.needsSubscribe(slot) && !slot.queuedToSubscribe {
            update(position) { $0.queuedToSubscribe = true }
            toSubscribe.append(position)
        } else if SubscriptionReconciler.needsUnsubscribe(slot) && !slot.queuedToUnsubscribe {
            update(position) { $0.queuedToUnsubscribe = true }
            toUnsubscribe.append(position)
        }
    }

    /// Frees a slot nobody wants and the server does not have; while it is queued its position must keep its meaning.
    private mutating func freeIfDone(_ position: Int) {
        guard let slot = slots[position], !slot.wanted, slot.state == .absent,
            !slot.queuedToSubscribe, !slot.queuedToUnsubscribe
        else { return }
        slots[position] = nil
        index[slot.channel] = nil
        free.append(position)
    }

    private mutating func takeSubscribes(_ room: Int) -> Action? {
        var batch: [Channel] = []
        while batch.count < room, let position = takeQueuedSubscribe() ?? takeUnvisited() {
            guard let slot = slots[position], SubscriptionReconciler.needsSubscribe(slot) else {
                freeIfDone(position)
                continue
            }
            update(position) { $0.state = .subscribing }
            batch.append(slot.channel)
        }
        guard !batch.isEmpty else { return nil }
        unconfirmed += batch.count
        subscribedLast = true
        return .subscribe(batch)
    }

    private mutating func takeUnsubscribes(_ room: Int) -> Action? {
        var batch: [Channel] = []
        while batch.count < room, let position = toUnsubscribe.popFirst() {
            update(position) { $0.queuedToUnsubscribe = false }
            guard let slot = slots[position], SubscriptionReconciler.needsUnsubscribe(slot) else {
                freeIfDone(position)
                continue
            }
            update(position) { $0.state = .unsubscribing }
            batch.append(slot.channel)
        }
        guard !batch.isEmpty else { return nil }
        unconfirmed += batch.count
        subscribedLast = false
        return .unsubscribe(batch)
    }

    private mutating func takeQueuedSubscribe() -> Int? {
        guard let position = toSubscribe.popFirst() else { return nil }
        update(position) { $0.queuedToSubscribe = false }
        return position
    }

    /// The next slot that has not been looked at since the connection began.
    private mutating func takeUnvisited() -> Int? {
        guard cursor < slots.count else { return nil }
        defer { cursor += 1 }
        update(cursor) { _ in }
        return cursor
    }

    private mutating func beginConnection() {
        connection += 1
        cursor = 0
        unconfirmed = 0
        toSubscribe.removeAll()
        toUnsubscribe.removeAll()
        subscribedLast = false
    }
}
