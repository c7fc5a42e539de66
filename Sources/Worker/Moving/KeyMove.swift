import Core

/// What becomes of a key when its data get another layout.
///
/// A name tells whose it is by its form alone: a topic's, or one of those that belong to all. Pure.
struct KeyMove {
    /// What a name is.
    enum Place: Equatable {
        /// Ours; the name that it gets.
        case ours([UInt8])
        /// Ours, and it has the layout already.
        case done
        /// An outbox, which has to be empty.
        case outbox
        /// The mark of the layout, which is written by itself.
        case mark
        /// Somebody else's.
        case foreign
    }

    private let from: Keys
    private let to: Keys
    private let isSame: Bool

    /// Facets of what belongs to all, without a service's name.
    private static let common: Set<String> = [
        "#workers", "#leases", "#revoked", "#revoked-before", "#removed", "#node-secret", "#here-nodes", "#outbox-dead",
        "#outbox-figures", "#sealed", "#nodes",
    ]
    /// What the names of what belongs to a service outside begin with.
    private static let ofServices = [
        "#calls:", "#calls-dead:", "#courier:", "#asks:", "#answers:", "#answers-due:", "#apns-token:", "#webhook:",
        "#webhook-dead:",
    ]

    /// Both have the same prefix; `isSame`: in one server, where also that stays true which is said of the server itself.
    init(from: Keys, to: Keys, isSame: Bool) {
        (self.from, self.to, self.isSame) = (from, to, isSame)
    }

    /// What a name is.
    func place(_ name: [UInt8]) -> Place {
        if name == from.layoutMark { return .mark }
        guard !name.isEmpty else { return .foreign }
        // It says whether the runs of that server have kept every write, and nothing of another one.
        if !isSame && name == from.sealed { return .done }
        if from.outboxStream(name) != nil { return .outbox }
        // Counts of entries end with the entries.
        if from.isOutbox(name) { return .done }
        if let new = renamed(name, from, to) { return .ours(new) }
        return renamed(name, to, from) != nil || to.isOutbox(name) ? .done : .foreign
    }

    private func renamed(_ name: [UInt8], _ from: Keys, _ to: Keys) -> [UInt8]? {
        guard name.starts(with: from.prefix) else { return nil }
        if let rest = from.restOfCommon(name) {
            let text = String(decoding: rest, as: UTF8.self)
            let isOurs = KeyMove.common.contains(text) || KeyMove.ofServices.contains { text.hasPrefix($0) }
            return isOurs ? to.common(rest) : nil
        }
        let bare = name.dropFirst(from.prefix.count)
        let head = bare.prefix { $0 != UInt8(ascii: "#") }
        guard let topic = from.topic(named: head) else { return nil }
        return to.channel(topic) + bare[head.endIndex...]
    }
}
