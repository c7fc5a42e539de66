import Core
import RedisLink

/// The reason why a move may not begin.
struct MoveProblem: Error {
    /// A sentence for the operator.
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// The check of a Redis before a move: its users, and the layout of its keys.
///
/// Thread: the reactor's of the links.
struct DataMoveLook {
    /// The findings.
    struct Found {
        /// The layout mark; `nil` where there is none.
        var mark: LayoutMark?
        /// Layouts that keys present in every installation reveal.
        var signs: Set<KeyLayout> = []

        /// Whether a move has begun and not ended.
        var isMoving: Bool { mark?.isMoving == true }

        /// The layout of the keys; `nil` where there are none.
        var layout: KeyLayout? { mark.flatMap { $0.isMoving ? nil : $0.layout } ?? signs.first }

        /// Whether keys of that layout may be moved here: there are none, or a move to it was interrupted.
        func isFree(for layout: KeyLayout) -> Bool {
            mark == LayoutMark(layout, format: ProductVersion.format, isMoving: true) || mark == nil && signs.isEmpty
        }

        /// The present layout of keys that are to get another one; or the reason why there is nothing to do.
        func layoutBefore(_ goal: KeyLayout) -> Result<KeyLayout, MoveProblem> {
            // After an interrupted move keys have both kinds of names, and either can be the goal.
            guard isMoving || layout != goal else {
                return .failure(MoveProblem("the keys are \(goal.rawValue) already"))
            }
            return .success(goal == .plain ? .tagged : .plain)
        }
    }

    /// A Redis whose servers are all connected.
    let whole: WholeRedis
    /// `--redis-prefix`.
    let prefix: String
    /// The prefix of the names of the move's own links.
    let own: String

    /// Runs the check; a Redis that a gateway or worker uses is refused.
    func run(_ completion: @escaping (Result<Found, MoveProblem>) -> Void) {
        users { problem in
            if let problem { return completion(.failure(problem)) }
            readMark(completion)
        }
    }

    /// Searches for gateways and workers connected to any of its servers; reports the first one as the problem.
    func users(_ completion: @escaping (MoveProblem?) -> Void) {
        whole.callEverywhere(RedisCall("CLIENT", Array("LIST".utf8))) { result in
            guard case .success(let replies) = result, replies.allSatisfy({ $0.bytes != nil }) else {
                return completion(MoveProblem("the Redis user needs the right to CLIENT LIST"))
            }
            guard let name = replies.compactMap(\.bytes).flatMap(others).first else { return completion(nil) }
            completion(
                MoveProblem("\(name) is connected: stop every gateway, worker and check that uses this Redis"))
        }
    }

    /// The names of Switchboard's own processes in a list of clients.
    private func others(_ list: [UInt8]) -> [String] {
        list.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }.map { String(decoding: $0, as: UTF8.self) }
            .filter { $0.hasPrefix("name=switchboard-") && !$0.hasPrefix("name=" + own) }.map {
                String($0.dropFirst(5))
            }
    }

    private func readMark(_ completion: @escaping (Result<Found, MoveProblem>) -> Void) {
        let plain = Keys(prefix: Array(prefix.utf8), layout: .plain)
        whole.link.call(RedisCall("GET", plain.layoutMark)) { [self] result in
            guard case .success(let value) = result else {
                return completion(.failure(MoveProblem("the Redis user needs the right to read #layout")))
            }
            var found = Found()
            if let word = value.bytes {
                guard let mark = LayoutMark(word) else {
                    return completion(.failure(MoveProblem("the key #layout has a value of another program")))
                }
                if let other = mark.otherFormat(than: ProductVersion.format) {
                    return completion(.failure(MoveProblem(other.detail)))
                }
                found.mark = mark
            }
            let signs = KeyLayout.allCases.flatMap { layout in
                LayoutGuard.signs(Keys(prefix: Array(prefix.utf8), layout: layout)).map { (layout, $0) }
            }
            var left = signs.count
            for (layout, key) in signs {
                whole.link.call(RedisCall("EXISTS", key)) { result in
                    if case .success(let value) = result, value.integer == 1 { found.signs.insert(layout) }
                    left -= 1
                    if left == 0 { completion(.success(found)) }
                }
            }
        }
    }
}
