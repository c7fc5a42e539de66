import Reactors

/// Answers to HTTP requests by route and class of status, of one shard.
///
/// Thread: written by the shard's, readable by any.
public final class AnswerCounts: Sendable {
    /// The routes by which answers are counted.
    public let routes: AnsweredRoutes
    /// By place of the route, then by class of the status.
    private let counters: [Counter]

    /// The classes of a status.
    static let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"]

    /// Zero counts.
    public init(_ routes: AnsweredRoutes) {
        self.routes = routes
        counters = (0..<routes.labels.count * AnswerCounts.classes.count).map { _ in Counter() }
    }

    /// Counts an answer with a status from 100 to 599.
    public func add(_ place: Int, status: Int) {
        let index = place * AnswerCounts.classes.count + status / 100 - 1
        if counters.indices.contains(index) { counters[index].add(1) }
    }

    /// The counts of a route, one for each class.
    func counts(_ place: Int) -> [Int] {
        AnswerCounts.classes.indices.map { counters[place * AnswerCounts.classes.count + $0].value }
    }
}
