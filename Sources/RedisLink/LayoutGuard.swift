public import Core

/// Checks which layout and format the data of a Redis have, before any other use, and which format the live processes have.
///
/// Both are recorded when there are no keys yet. Data of versions that did not record it are recognised by keys
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
    private let format: Int
    /// Whether a missing layout is recorded; `switchboard check` only looks.
    public var marks = true

    /// Makes a guard for the layout of these names, in a process that keeps data of this format.
    public init(_ keys: Keys, format: Int = ProductVersion.format) {
        (self.keys, self.format) = (keys, format)
    }

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
        RedisCall("SET", keys.layoutMark, LayoutMark(keys.layout, format: format).text, Array("NX".utf8))
    }

    /// Judges the answers to ``questions``; an error proves nothing.
    func verdict(_ answers: [RESPValue]) -> Verdict {
        guard answers.count > 2 else { return .fits }
        if let other = otherFormat(answers[0], answers[1]) { return .refused(other) }
        let (first, signs) = (answers[2], answers.dropFirst(3))
        if let word = first.bytes {
            guard let mark = LayoutMark(word) else { return refuse(otherwise) }
            if let other = mark.otherFormat(than: format) { return .refused(other) }
            if mark.isMoving {
                return refuse(
                    "the keys here are being moved; run switchboard move-data again until it says that all are")
            }
            return mark.layout == keys.layout ? .fits : refuse(otherwise)
        }
        guard case .null = first else { return .fits }
        if signs.contains(where: { $0.integer == 1 }) { return refuse(otherwise) }
        return marks ? .isNew : .fits
    }

    /// The failure when live processes with another data format forbid working beside them; `nil` when there are none.
    private func otherFormat(_ time: RESPValue, _ nodes: RESPValue) -> RedisFailure? {
        guard let words = time.elements, let second = words.first?.bytes.flatMap({ ASCII.decimal($0) }),
            let other = NodeEntry.live(nodes, nowMs: second * 1_000).first(where: {
                $0.format != format
            })
        else { return nil }
        return RedisFailure(
            .otherFormat,
            text: "a \(other.kind.rawValue) of version \(other.version) works here with data of format \(other.format);"
                + " this is version \(ProductVersion.text) with format \(format): end the one before the other"
        )
    }

    private var otherwise: String {
        "the keys here are not \(keys.layout.rawValue), as --redis-layout says; change the setting, or the keys by"
            + " switchboard move-data"
    }

    private func refuse(_ sentence: String) -> Verdict { .refused(RedisFailure(.otherLayout, text: sentence)) }
}
