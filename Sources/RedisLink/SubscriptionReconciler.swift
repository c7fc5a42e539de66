import Core

/// Makes the channels that a connection is subscribed to equal the wanted ones (failure catalogue R16, R17).
///
/// It stores the wanted channels and the server's confirmations, never a list of events to replay: after any
/// disturbance, the difference between the two remains to be sent. For each channel at most one call is in flight, so a
/// confirmation can only belong to that one. A channel is wanted or not, without counting: the directory above counts.
///
/// After ``connected()`` all wanted channels are subscribed again, in batches. At most `unconfirmedMax` channels are
/// requested and not confirmed, so that 100 000 of them do not fill the server's output buffer. No call does work that
/// grows with the number of channels, except that ``next()`` visits each once for each connection.
public struct SubscriptionReconciler<Channel: Hashable & Sendable>: Sendable {
    /// A call to send now, with at most `batchMax` channels.
    public enum Action: Equatable, Sendable {
        /// `SUBSCRIBE` to these.
        case subscribe([Channel])
        /// `UNSUBSCRIBE` from these.
        case unsubscribe([Channel])
    }

    /// The state of a wanted channel.
    public enum Standing: Equatable, Sendable {
        /// Redis has not confirmed it; ``Confirmation/live(_:)`` will follow.
        case pending
        /// Redis delivers it, without interruption since this number.
        case live(UInt64)
    }

    /// The meaning of a confirmation.
    public enum Confirmation: Equatable, Sendable {
        /// The channel is live from now on.
        ///
        /// Numbers grow with each such event of any channel and connection. Earlier messages may have been missed, so
        /// positions are compared with the log now.
        case live(UInt64)
        /// It is no longer wanted; an unsubscribe follows.
        case unwanted
        /// It is gone, as requested.
        case gone
        /// It is gone and wanted again; a subscribe follows.
        case resubscribing
        /// It confirms no call in flight: the server behaves incorrectly.
        case unexpected
    }

    private enum State {
        /// The server has no subscription to it.
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
        /// The connection to which all fields but `wanted` refer; values of an older one are void.
        var connection: UInt64
        var liveSince: UInt64
    }

    private var index: [Channel: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    /// Slots to subscribe or unsubscribe, unless they have changed by the time they are taken out.
    private var toSubscribe = Ring<Int>()
    private var toUnsubscribe = Ring<Int>()
    /// Whether the last call was a subscribe: the two kinds alternate, so that neither starves.
    private var subscribedLast = false
    /// Slots from this index on have not been visited since the connection began.
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

    /// The number of known channels: wanted, or not yet gone from the server.
    public var count: Int { index.count }

    /// Whether all wanted channels are live and no others are subscribed.
    public var isSettled: Bool {
        isConnected && unconfirmed == 0 && toSubscribe.isEmpty && toUnsubscribe.isEmpty && cursor == slots.count
    }

    /// Wants a channel; wanting it twice has no further effect.
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

    /// Stops wanting a channel; an unknown one is ignored.
    public mutating func unwant(_ channel: Channel) {
        guard let position = index[channel] else { return }
        update(position) { $0.wanted = false }
        enqueueIfNeeded(position)
        freeIfDone(position)
    }

    /// The number since which the channel is live without interruption; `nil` while it is not live.
    public func liveSince(_ channel: Channel) -> UInt64? {
        guard isConnected, let position = index[channel], let slot = slots[position], slot.connection == connection,
            slot.state == .live
        else { return nil }
        return slot.liveSince
    }

    /// Begins a new connection, which is ready for `SUBSCRIBE` and has no channels yet.
    public mutating func connected() {
        beginConnection()
        isConnected = true
    }

    /// Ends the connection, which loses every channel.
    public mutating func disconnected() {
        beginConnection()
        isConnected = false
    }

    /// The next call to send; `nil` when nothing is to be sent now.
    ///
    /// Call it until it returns `nil` after every other call.
    public mutating func next() -> Action? {
        guard isConnected else { return nil }
        let room = min(batchMax, unconfirmedMax - unconfirmed)
        guard room > 0 else { return nil }
        let first = subscribedLast ? takeUnsubscribes(room) : takeSubscribes(room)
        if let first { return first }
        return subscribedLast ? takeSubscribes(room) : takeUnsubscribes(room)
    }

    /// Takes Redis's confirmation of a subscription.
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

    /// Takes Redis's confirmation that a subscription ended, or its own end of a live one (a moved slot, a changed
    /// ACL).
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

    /// Changes a slot after clearing the values of an older connection.
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

    /// Frees a slot that is not wanted and not on the server; while it is queued, its position must keep its meaning.
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

    /// The next slot that was not visited since the connection began.
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
