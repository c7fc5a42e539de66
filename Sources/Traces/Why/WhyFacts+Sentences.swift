import Core

/// Sentences about facts that every answer tells.
extension WhyFacts {
    var eventSentence: String {
        let name = "Event \(offset) of `\(topic)`"
        let epoch = position.map { " in epoch \(String(decoding: $0.epoch, as: UTF8.self))" } ?? ""
        switch event {
        case .logged(let event, let bytes, let atMs):
            let at = atMs.map { " at \(time($0))" } ?? ""
            return "\(name)\(epoch) is `\(event)` with \(bytes) bytes of data, published\(at)."
        case .gone(let first):
            let rest = first > 0 ? "the log begins at \(first) now" : "the topic keeps no log of it"
            return "\(name)\(epoch) was published, and \(rest)."
        case .notReached(let top): return "\(name) was not published: the newest offset is \(top.offset)."
        case .noTopic: return "\(name) was not published: the topic has no events."
        case .otherEpoch: return "\(name)\(epoch) belongs to an epoch that has ended."
        }
    }

    func standInSentences(_ blocks: Blocks) -> [String] {
        var sentences = [
            "It is sent in place of a whole event while somebody on the topic must not be shown another user."
        ]
        if !blocks.blocks.isEmpty { sentences.append("The user blocks \(blocks.blocks.joined(separator: ", ")).") }
        if !blocks.blockedBy.isEmpty {
            sentences.append("The user is blocked by \(blocks.blockedBy.joined(separator: ", ")).")
        }
        return sentences
    }

    func tokenSentences(_ session: SessionFact) -> [String] {
        guard let token = session.tokens.last else { return [] }
        let what =
            switch TokenWord(rawValue: token.failure) {
            case .expired: "the token had expired"
            case .revoked: "the token was revoked"
            case nil: "the token was refused with `\(token.failure)`"
            }
        return ["Session \(session.id) was ended at \(time(token.atMs)), since \(what)."]
    }

    private enum TokenWord: String {
        case expired = "token_expired"
        case revoked = "token_revoked"
    }

    /// The state of the user's rights now, where it may explain more.
    func standingSentences(_ verdict: WhyVerdict) -> [String] {
        var sentences: [String] = []
        if case .refused(let message) = rights, verdict != .noRights {
            sentences.append("The user has no right to subscribe now: \(message)")
        } else if rights == .allowed, verdict == .noRights {
            sentences.append("The user may subscribe now.")
        }
        if let revokedUntil {
            sentences.append("Tokens of the user that were issued until \(time(revokedUntil * 1_000)) are revoked.")
        }
        return sentences
    }

    /// The limits of what is known.
    var limitSentences: [String] {
        var sentences: [String] = []
        if !unanswered.isEmpty {
            let names = unanswered.joined(separator: ", ")
            sentences.append("Gateways that did not answer in time: \(names). They may know more.")
        }
        if sessions.contains(where: \.isFull) {
            sentences.append("A session changed so often that its record is not whole.")
        }
        if scope == .topic {
            sentences.append("You may see this topic's subscriptions alone, since your token is bound to topics.")
        }
        return sentences
    }
}
