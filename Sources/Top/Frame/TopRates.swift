/// The changes of a node's counts in each second, from two answers of it.
///
/// Pure.
struct TopRates: Equatable {
    let messagesIn: Double
    let messagesOut: Double
    /// Bytes received and sent.
    let bytes: Double
    let publishes: Double
    let refusals: Double
    let slowCloses: Double
    /// Processors in use, 1 for a whole one.
    let cpu: Double
    /// The time that all ticks but one in a hundred were within, microseconds; `nil` without ticks.
    let lagUs: Int?

    /// The changes; `nil` when the second answer is not later, or is that of another start.
    init?(from before: TopCounts?, to after: TopCounts?) {
        guard let before, let after, after.uptimeMs > before.uptimeMs, before.uptimeMs >= 0 else { return nil }
        let seconds = (Double(after.uptimeMs) - Double(before.uptimeMs)) / 1_000
        func rate(_ path: (TopCounts) -> Int) -> Double {
            max(0, Double(path(after)) - Double(path(before))) / seconds
        }
        messagesIn = rate(\.messagesIn)
        messagesOut = rate(\.messagesOut)
        bytes = rate(\.bytesIn) + rate(\.bytesOut)
        publishes = rate(\.publishes)
        refusals = rate(\.refusals)
        slowCloses = rate(\.slowCloses)
        cpu = rate(\.cpuMs) / 1_000
        lagUs = TopRates.lagUs(before, after)
    }

    private static func lagUs(_ before: TopCounts, _ after: TopCounts) -> Int? {
        guard before.loopBoundsUs == after.loopBoundsUs, before.loopTicks.count == after.loopTicks.count else {
            return nil
        }
        let ticks = zip(before.loopTicks, after.loopTicks).map { max(0, Double($1) - Double($0)) }
        let all = ticks.reduce(0, +)
        guard all > 0 else { return nil }
        var within = 0.0
        for (place, count) in ticks.enumerated() {
            within += count
            // The last bucket has no bound of its own.
            if within >= all * 0.99 {
                return place < after.loopBoundsUs.count ? after.loopBoundsUs[place] : after.loopBoundsUs.last
            }
        }
        return nil
    }
}
