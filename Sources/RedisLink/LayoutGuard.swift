public import Core

/// Checks which layout the keys of a Redis have, before any other use, and which data format the live processes have.
///
/// The layout is recorded when there are no keys yet. Data of versions that did not record it are recognised by keys
/// that every worker and every gateway creates. On a Redis Cluster only the server that owns the key can answer. A
/// value without I/O.
public struct LayoutGuard: Sendable {
    /// The conclusion from the answers.
    enum Verdict: Equatable {
        /// The keys have the layout, or this server does not show it.
        case fits
        /// There are no keys yet: the layout is to be recorded.
        case isNew
        /// The keys have another layout, or are being moved.
        case refused(RedisFailure)
    }

    private let keys: Keys
    /// Whether a missing layout is recorded; `switchboard check` only looks.
    public var marks = true

    /// Makes a guard for the layout of these names.
    public init(_ keys: Keys) {
        self.keys = keys
    }

    /// The prefix of the recorded layout while `move-data` runs; the layout that the keys will have follows it.
    public static let moving = "moving:"

    /// Keys that show a layout when none was recorded.
    public static func signs(_ keys: Keys) -> [[UInt8]] { [keys.leases, keys.nodeSecret] }

    /// The questions for Redis, each about one key at most.
    var questions: [RedisCall] {
        let other = Keys(prefix: keys.prefix, layout: keys.layout == .plain ? .tagged : .plain)
        return [RedisCall("TIME"), RedisCall("HGETALL", keys.nodes), RedisCall("GET", keys.layoutMark)]
            + LayoutGuard.signs(other).map { RedisCall("EXISTS", $0) }
    }

    /// Records the layout unless another process has done so already; then the answer is null.
    var mark: RedisCall {
        RedisCall("SET", keys.layoutMark, Array(keys.layout.rawValue.utf8), Array("NX".utf8))
    }

    /// Judges the answers to ``questions``; an error proves nothing.
    func verdict(_ answers: [RESPValue]) -> Verdict {
        guard answers.count > 2 else { return .fits }
        if let other = otherFormat(answers[0], answers[1]) { return .refused(other) }
        let (first, signs) = (answers[2], answers.dropFirst(3))
        if let word = first.bytes {
            if word == Array(keys.layout.rawValue.utf8) { return .fits }
            if word.starts(with: LayoutGuard.moving.utf8) {
                return refuse(
                    "the keys here are being moved; run switchboard move-data again until it says that all are")
            }
            return refuse(otherwise)
        }
        guard case .null = first else { return .fits }
        if signs.contains(where: { $0.integer == 1 }) { return refuse(otherwise) }
        return marks ? .isNew : .fits
    }

    /// The failure when live processes with another data format forbid working beside them; `nil` when there are none.
    private func otherFormat(_ time: RESPValue, _ nodes: RESPValue) -> RedisFailure? {
        guard let words = time.elements, let second = words.first?.bytes.flatMap({ ASCII.decimal($0) }),
            let other = NodeEntry.live(nodes, nowMs: second * 1_000).first(where: {
                $0.format != ProductVersion.format
            })
        else { return nil }
        return RedisFailure(
            .otherFormat,
            text: "a \(other.kind.rawValue) of version \(other.version) works here with data of format \(other.format);"
                + " this is version \(ProductVersion.text) with format \(ProductVersion.format): end the one before the other"
        )
    }

    private var otherwise: String {
        "the keys here are not \(keys.layout.rawValue), as --redis-layout says; change the setting, or the keys by"
            + " switchboard move-data"
    }

    private func refuse(_ sentence: String) -> Verdict { .refused(RedisFailure(.otherLayout, text: sentence)) }
}
