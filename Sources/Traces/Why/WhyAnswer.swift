import Core

/// The verdict on the facts, and the sentences that say it.
public struct WhyAnswer: Equatable, Sendable {
    /// One word.
    public var verdict: WhyVerdict
    /// Plain sentences, the event first.
    public var sentences: [String]
}

extension WhyFacts {
    /// A subscription with its session.
    struct Part {
        let session: SessionFact
        let stay: SessionFact.Stay

        /// When it began, or the earliest time where that is not known.
        var fromMs: Int { stay.subscribedMs ?? session.openedMs ?? 0 }
        /// When it ended, or the latest time while it is live.
        var toMs: Int { stay.endedMs ?? Int.max }
        /// When the event was lost for it.
        var lostMs: Int { min(stay.fateMs ?? toMs, toMs) }
        /// The beginning of a sentence about it.
        var name: String { "Session \(session.id)" }
    }

    typealias Decision = (verdict: WhyVerdict, sentences: [String])

    /// Decides.
    public func answer() -> WhyAnswer {
        let decision = decide()
        return WhyAnswer(
            verdict: decision.verdict,
            sentences: [eventSentence] + decision.sentences + standingSentences(decision.verdict) + limitSentences)
    }

    private func decide() -> Decision {
        if let decision = decideUnpublished() { return decision }
        let parts = sessions.flatMap { session in session.stays.map { Part(session: session, stay: $0) } }
            .sorted { $0.fromMs < $1.fromMs }
        let had = parts.filter { WhyFacts.receipts.contains($0.stay.fate) }
        // A client that came back by position has made good what an earlier connection lost.
        let lost = parts.last { part in
            part.stay.fate.isLoss && !had.contains { $0.fromMs >= part.lostMs }
        }
        if let lost { return decide(lost: lost) }
        if let last = had.last {
            return decide(had: last, before: parts.last { $0.stay.fate.isLoss })
        }
        if let decision = decideEnded() { return decision }
        if let cut = parts.last(where: { $0.stay.fate == .leftBefore }), WhyFacts.isCut(cut) {
            return decide(cut: cut, then: parts.last { $0.stay.fate == .joinedLater && $0.fromMs >= cut.fromMs })
        }
        if let decision = decideGone() { return decision }
        return parts.last.map { decide(away: $0) } ?? decideWithoutSubscription()
    }

    private static let receipts: [EventFate.Word] = [.written, .recovered, .had]

    /// Whether the gateway ended the subscription, and not the client.
    private static func isCut(_ part: Part) -> Bool {
        [CloseReason.slowConsumer.rawValue, CloseReason.unauthorized.rawValue, SessionFact.Stay.withdrawn]
            .contains(part.stay.cause)
    }

    func time(_ wallMs: Int?) -> String { wallMs.map { Timestamp.text(wallMs: $0) } ?? "an unknown time" }
}
