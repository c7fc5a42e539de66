import Core

/// The effect of a new layout on a key.
///
/// The form of a name alone identifies its owner: a topic, or the whole installation. Pure.
struct KeyMove {
    /// The kind of a name.
    enum Place: Equatable {
        /// A key of this installation; its new name.
        case ours([UInt8])
        /// A key of this installation that has the layout already.
        case done
        /// An outbox, which has to be empty.
        case outbox
        /// The mark of the layout, which is written separately.
        case mark
        /// A key of another owner.
        case foreign
    }

    private let from: Keys
    private let to: Keys
    private let isSame: Bool

    /// Facets of keys of the whole installation, without a service's name.
    private static let common: Set<String> = [
        "#workers", "#leases", "#revoked", "#revoked-before", "#removed", "#node-secret", "#here-nodes", "#outbox-dead",
        "#outbox-figures", "#sealed", "#nodes", "#webhook-figures",
    ]
    /// Prefixes of the keys of outside services.
    private static let ofServices = [
        "#calls:", "#calls-dead:", "#courier:", "#asks:", "#answers:", "#answers-due:", "#apns-token:", "#webhook:",
        "#webhook-dead:",
    ]

    /// Both have the same prefix.
    ///
    /// `isSame`: the move stays within one server, so data about the server itself remain valid.
    init(from: Keys, to: Keys, isSame: Bool) {
        (self.from, self.to, self.isSame) = (from, to, isSame)
    }

    /// The kind of a name.
    func place(_ name: [UInt8]) -> Place {
        if name == from.layoutMark { return .mark }
        guard !name.isEmpty else { return .foreign }
        // It records whether the runs of that server have kept every write; it is invalid for another server.
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
