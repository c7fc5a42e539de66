public import Core

/// Asks a Redis which layout its keys have, before anything else is asked of it, and which format of data the processes
/// that live have.
///
/// The layout is written down where there is no key yet. Data of versions that did not write it are known by keys that
/// every worker and every gateway leaves. On a Redis Cluster only the server that has the key can tell. A value.
public struct LayoutGuard: Sendable {
    /// What the answers say.
    enum Verdict: Equatable {
        /// The keys have the layout, or this server cannot tell.
        case fits
        /// There are no keys yet: the layout is to be written down.
        case isNew
        /// They have another, or are being moved.
        case refused(RedisFailure)
    }

    private let keys: Keys
    /// Whether the layout is written down where there is none; `switchboard check` only looks.
    public var marks = true

    /// A guard of the layout that these names have.
    public init(_ keys: Keys) {
        self.keys = keys
    }

    /// What the mark holds while `move-data` is at work, before the layout that the keys will have.
    public static let moving = "moving:"

    /// Keys that tell a layout where nobody wrote it down.
    public static func signs(_ keys: Keys) -> [[UInt8]] { [keys.leases, keys.nodeSecret] }

    /// Questions to Redis, each about one key at most.
    var questions: [RedisCall] {
        let other = Keys(prefix: keys.prefix, layout: keys.layout == .plain ? .tagged : .plain)
        return [RedisCall("TIME"), RedisCall("HGETALL", keys.nodes), RedisCall("GET", keys.layoutMark)]
            + LayoutGuard.signs(other).map { RedisCall("EXISTS", $0) }
    }

    /// Writes the layout down unless somebody did so meanwhile; the answer is then null.
    var mark: RedisCall {
        RedisCall("SET", keys.layoutMark, Array(keys.layout.rawValue.utf8), Array("NX".utf8))
    }

    /// Judges the answers to ``questions``; an error says nothing.
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

    /// Why processes that live and keep data of another format forbid to work beside them; `nil` where none does.
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
