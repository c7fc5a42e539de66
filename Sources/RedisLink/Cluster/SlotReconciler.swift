import Core

/// Makes the sharded channels that one connection is subscribed to equal the wanted ones.
///
/// All channels of one `SSUBSCRIBE` or `SUNSUBSCRIBE` lie in one slot, as Redis requires. An error reply names no
/// channel, and Redis ends subscriptions by itself when a slot moves away. So neither order nor channel identifies a
/// reply.
///
/// Therefore a `PING` with the call's number follows each call, and all replies since the `PING` before belong to it. A
/// channel that was refused or taken away stays absent until ``retry(_:)``, since only a new map names its new place. A
/// value without I/O.
public struct SlotReconciler: Sendable {
    /// A call to send now, followed by `PING number`.
    public struct Call: Equatable, Sendable {
        /// The text of the `PING`.
        public let number: Int
        /// The slot of all its channels.
        public let slot: Int
        /// `true` for `SSUBSCRIBE`, `false` for `SUNSUBSCRIBE`.
        public let subscribes: Bool
        /// At least one channel, at most a batch.
        public let channels: [[UInt8]]
    }

    /// The result of a call.
    public enum Outcome: Equatable, Sendable {
        /// It was done.
        case done
        /// These channels are not subscribed, for that reason.
        case refused(slot: Int, channels: [[UInt8]], RedisFailure)
        /// No call has that number: the server behaves incorrectly.
        case unexpected
    }

    private enum State {
        case absent
        case asked
        case live
        case leaving
    }

    private struct Entry {
        let slot: Int
        var isWanted: Bool
        var state = State.absent
        /// Whether it stands in `due`.
        var isDue = false
    }

    private var entries: [[UInt8]: Entry] = [:]
    /// The channels with pending work, by slot, and the slots in the order in which they are served.
    private var due: [Int: [[UInt8]]] = [:]
    private var turns = Ring<Int>()
    private var calls = Ring<Call>()
    /// The first error since the last answered `PING`.
    private var failure: RedisFailure?
    private var number = 0
    private var unconfirmed = 0
    private var isConnected = false
    private let batchMax: Int
    private let unconfirmedMax: Int

    /// Makes a reconciler without channels, not connected; unanswered calls have at most `unconfirmedMax` channels.
    public init(batchMax: Int, unconfirmedMax: Int) {
        self.batchMax = max(1, batchMax)
        self.unconfirmedMax = max(self.batchMax, unconfirmedMax)
    }

    /// The number of known channels: wanted, or not yet gone from the server.
    public var count: Int { entries.count }

    /// Whether all wanted channels are live, and no other channel is subscribed or pending.
    public var isSettled: Bool { isConnected && calls.isEmpty && due.isEmpty }

    /// Whether the channel is wanted and live.
    public func isLive(_ channel: [UInt8]) -> Bool {
        entries[channel].map { $0.isWanted && $0.state == .live } ?? false
    }

    /// Wants a channel; returns `true` when it is live already.
    public mutating func want(_ channel: [UInt8], slot: Int) -> Bool {
        entries[channel, default: Entry(slot: slot, isWanted: true)].isWanted = true
        enqueue(channel)
        return isLive(channel)
    }

    /// Stops wanting a channel; an unknown one is ignored.
    public mutating func unwant(_ channel: [UInt8]) {
        entries[channel]?.isWanted = false
        enqueue(channel)
        forgetIfDone(channel)
    }

    /// Subscribes again to channels that were refused or taken away, as far as they are wanted.
    public mutating func retry(_ channels: [[UInt8]]) {
        for channel in channels { enqueue(channel) }
    }

    /// Begins a new connection: all wanted channels are subscribed.
    public mutating func connected() {
        begin(isConnected: true)
        for channel in entries.keys { enqueue(channel) }
    }

    /// Ends the connection, which loses every channel.
    public mutating func disconnected() {
        begin(isConnected: false)
    }

    private mutating func begin(isConnected: Bool) {
        self.isConnected = isConnected
        due.removeAll()
        turns.removeAll()
        calls.removeAll()
        failure = nil
        unconfirmed = 0
        entries = entries.filter { $0.value.isWanted }.mapValues { Entry(slot: $0.slot, isWanted: true) }
    }

    // MARK: Calls

    /// The next call to send; `nil` when nothing is to be sent now.
    ///
    /// Call it until it returns `nil` after every other call.
    public mutating func next() -> Call? {
        while isConnected, unconfirmed < unconfirmedMax, let slot = turns.popFirst() {
            guard var channels = due.removeValue(forKey: slot) else { continue }
            // A call has one kind: that of the first channel.
            var taken: [[UInt8]] = []
            var subscribes: Bool?
            var rest: [[UInt8]] = []
            let room = min(batchMax, unconfirmedMax - unconfirmed)
            channels.reverse()
            while let channel = channels.popLast() {
                guard let entry = entries[channel], let wish = SlotReconciler.wish(entry) else {
                    entries[channel]?.isDue = false
                    forgetIfDone(channel)
                    continue
                }
                guard taken.count < room, subscribes == nil || subscribes == wish else {
                    rest.append(channel)
                    continue
                }
                subscribes = wish
                entries[channel]?.state = wish ? .asked : .leaving
                entries[channel]?.isDue = false
                taken.append(channel)
            }
            if !rest.isEmpty {
                due[slot] = rest
                turns.append(slot)
            }
            guard let subscribes, !taken.isEmpty else { continue }
            number &+= 1
            unconfirmed += taken.count
            let call = Call(number: number, slot: slot, subscribes: subscribes, channels: taken)
            calls.append(call)
            return call
        }
        return nil
    }

    /// The pending work of a channel: `true` to subscribe, `false` to unsubscribe, `nil` for none.
    private static func wish(_ entry: Entry) -> Bool? {
        switch entry.state {
        case .absent where entry.isWanted: true
        case .live where !entry.isWanted: false
        default: nil
        }
    }

    private mutating func enqueue(_ channel: [UInt8]) {
        guard isConnected, let entry = entries[channel], !entry.isDue, SlotReconciler.wish(entry) != nil else { return }
        entries[channel]?.isDue = true
        if due[entry.slot] == nil { turns.append(entry.slot) }
        due[entry.slot, default: []].append(channel)
    }

    private mutating func forgetIfDone(_ channel: [UInt8]) {
        guard let entry = entries[channel], !entry.isWanted, entry.state == .absent, !entry.isDue else { return }
        entries[channel] = nil
    }

    // MARK: Answers

    /// Takes Redis's confirmation of a subscription; returns `true` when the channel is wanted and live from now on.
    public mutating func confirmed(_ channel: [UInt8]) -> Bool {
        guard let entry = entries[channel], entry.state == .asked else { return false }
        entries[channel]?.state = .live
        enqueue(channel)
        return entry.isWanted
    }

    /// Takes Redis's end of a subscription; returns `true` when it was not requested and the channel is still wanted.
    public mutating func unsubscribed(_ channel: [UInt8]) -> Bool {
        guard let entry = entries[channel], entry.state == .live else { return false }
        entries[channel]?.state = .absent
        forgetIfDone(channel)
        return entry.isWanted
    }

    /// Takes an error, which belongs to the call that the next `PING` ends.
    public mutating func refused(_ failure: RedisFailure) {
        self.failure = self.failure ?? failure
    }

    /// Takes the answer to the `PING` with that number, which ends the call before it.
    public mutating func answered(_ number: Int) -> Outcome {
        guard let call = calls.first, call.number == number else { return .unexpected }
        _ = calls.popFirst()
        unconfirmed -= call.channels.count
        let reason = failure
        failure = nil
        guard call.subscribes else {
            for channel in call.channels where entries[channel]?.state == .leaving {
                // After any answer, a channel whose unsubscription was refused is no longer on this server.
                entries[channel]?.state = .absent
                enqueue(channel)
                forgetIfDone(channel)
            }
            return .done
        }
        let missing = call.channels.filter { entries[$0]?.state == .asked }
        for channel in missing {
            entries[channel]?.state = .absent
            forgetIfDone(channel)
        }
        guard !missing.isEmpty else { return .done }
        let failure = reason ?? RedisFailure(.protocolViolation, detail: "a subscription was not confirmed")
        return .refused(slot: call.slot, channels: missing.filter { entries[$0] != nil }, failure)
    }
}
