/// How often each payer may make calls of certain kinds: so many within so many seconds.
///
/// A call costs as many tokens as the time has seconds, and as many tokens flow in each second as calls are allowed; so 6
/// calls in 60 s are one each 10 s after the first 6. Pure: time is a parameter, monotonic milliseconds.
public struct CallRates: Sendable {
    /// A rate of one kind of call.
    public struct Rate: Hashable, Sendable {
        /// The most calls within the time.
        public let calls: Int
        /// The time, seconds.
        public let seconds: Int

        /// Makes a rate.
        public init(calls: Int, seconds: Int) {
            self.calls = calls
            self.seconds = seconds
        }
    }

    private struct Entry: Hashable, Sendable {
        let name: String
        let payer: Payer
    }

    private var tables: [Rate: KeyedBuckets<Entry>] = [:]
    private let payersMax: Int

    /// Makes rates of which each counts at most `payersMax` payers at a time; the others share one count.
    public init(payersMax: Int) {
        self.payersMax = payersMax
    }

    /// Counts a call against every rate it must keep.
    ///
    /// `nil` when all were kept, else the milliseconds until they could be, and nothing is counted.
    public mutating func take(_ name: String, _ payer: Payer, _ rates: [Rate], nowMs: Int) -> Int? {
        let entry = Entry(name: name, payer: payer)
        let longestMs = waitMs(name, payer, rates, nowMs: nowMs)
        guard longestMs == 0 else { return longestMs }
        for rate in rates {
            var table = table(rate)
            tables[rate] = nil
            let waitMs = table.pay(entry, rate.seconds, nowMs: nowMs)
            tables[rate] = table
            if let waitMs { return waitMs }
        }
        return nil
    }

    /// Counts a call that was made already; what it goes beyond a rate is a debt, which later calls wait for.
    public mutating func charge(_ name: String, _ payer: Payer, _ rates: [Rate], nowMs: Int) {
        let entry = Entry(name: name, payer: payer)
        for rate in rates {
            var table = table(rate)
            tables[rate] = nil
            table.charge(entry, rate.seconds, nowMs: nowMs)
            tables[rate] = table
        }
    }

    /// The milliseconds until a call could keep every rate; 0 when it could now.
    public func waitMs(_ name: String, _ payer: Payer, _ rates: [Rate], nowMs: Int) -> Int {
        let entry = Entry(name: name, payer: payer)
        return rates.reduce(0) { max($0, table($1).waitMs(entry, for: $1.seconds, nowMs: nowMs) ?? 0) }
    }

    private func table(_ rate: Rate) -> KeyedBuckets<Entry> {
        tables[rate]
            ?? KeyedBuckets(RateLimit(perSecond: rate.calls, burst: rate.calls * rate.seconds), capacity: payersMax)
    }
}
