/// Proof that what is published arrives: a number published through Redis must come back in time.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct DeliveryProbe {
    /// What to do now.
    enum Step: Equatable {
        /// Nothing.
        case wait
        /// Publish this number on the probe channel.
        case send(Int)
        /// The last number did not come back: the links lead nowhere, or to different servers.
        case failed
    }

    private let intervalMs: Int
    private let timeoutMs: Int
    private var number = 0
    private var sentMs: Int?
    private var nextMs = 0

    init(intervalMs: Int, timeoutMs: Int) {
        self.intervalMs = intervalMs
        self.timeoutMs = timeoutMs
    }

    /// Called often; `isSubscribed` tells whether both links are up.
    mutating func due(nowMs: Int, isSubscribed: Bool) -> Step {
        guard isSubscribed else {
            reset()
            return .wait
        }
        if let sent = sentMs {
            guard nowMs - sent >= timeoutMs else { return .wait }
            reset()
            return .failed
        }
        guard nowMs >= nextMs else { return .wait }
        number += 1
        sentMs = nowMs
        nextMs = nowMs + intervalMs
        return .send(number)
    }

    /// A number came back; false when it is not the one awaited.
    mutating func returned(_ back: Int) -> Bool {
        guard sentMs != nil, back == number else { return false }
        sentMs = nil
        return true
    }

    /// Starts over: the next call publishes at once.
    mutating func reset() {
        sentMs = nil
        nextMs = 0
    }
}
