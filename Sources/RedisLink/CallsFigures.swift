/// The calls of one outside service, as Redis holds them.
public struct CallsFigures: Equatable, Sendable {
    /// Waiting calls, including those that couriers have claimed.
    public let waiting: Int
    /// Age of the oldest call by Redis's clock, milliseconds; 0 without calls.
    public let oldestMs: Int
    /// Dead letters that are kept.
    public let dead: Int
    /// Whether a courier of the service is running.
    public let hasCourier: Bool

    /// Makes figures.
    public init(waiting: Int, oldestMs: Int, dead: Int, hasCourier: Bool) {
        (self.waiting, self.oldestMs, self.dead, self.hasCourier) = (waiting, oldestMs, dead, hasCourier)
    }

    /// Reads four numbers of a script's reply, the last 1 or 0; `nil` for any other reply.
    public init?(_ reply: RESPValue) {
        let numbers = (reply.elements ?? []).compactMap(\.integer)
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(waiting: numbers[0], oldestMs: numbers[1], dead: numbers[2], hasCourier: numbers[3] == 1)
    }
}
