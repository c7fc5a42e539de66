import Core

/// Decisions about users who were subscribed.
extension WhyFacts {
    /// A subscription that did not get the event, though it was there.
    func decide(lost part: Part) -> Decision {
        let (stay, at) = (part.stay, time(part.stay.fateMs))
        switch stay.fate {
        case .conflated:
            let what = stay.isSure ? "it" : "events around it"
            return (
                .conflated,
                [
                    "\(part.name) read too slowly.",
                    "At \(at) newer events of the same kind replaced \(what) in its queue.",
                    "The client received a `gap` with the reason `conflated` in its place.",
                ]
            )
        case .gap:
            let text = "was subscribed, and at \(at) it received a `gap` that covers this offset"
            return (.gapTold, ["\(part.name) \(text): the log did not hold the event any more."])
        case .reset:
            let text = "was subscribed when a new epoch of the topic began"
            return (
                .otherEpoch,
                ["\(part.name) \(text). At \(at) it received a `gap` with the reason `reset`, before this event."]
            )
        case .lostAtJoin: return (.gapTold, unrecovered(part, "to which the log did not reach back"))
        case .otherEpochAtJoin: return (.otherEpoch, unrecovered(part, "which is of another epoch"))
        case .unsent: return decide(unsent: part)
        case .waiting: return (.waiting, ["\(part.name) is subscribed, and the event waits for the client to read it."])
        default: return (.waiting, ["\(part.name) is subscribed, and the event has not come to its gateway yet."])
        }
    }

    private func unrecovered(_ part: Part, _ why: String) -> [String] {
        let (subscribed, since) = (time(part.stay.subscribedMs), part.stay.since ?? "a position")
        return [
            "\(part.name) subscribed at \(subscribed) and asked to continue from \(since), \(why).",
            "The answer said `recovered: false` with the position \(part.stay.position ?? "of that time").",
            "So the client knew that it missed events.",
        ]
    }

    private func decide(unsent part: Part) -> Decision {
        let begin = "The event was handed to session \(part.session.id), and not written before the session ended"
        let ended = time(part.stay.endedMs)
        switch part.stay.cause {
        case CloseReason.slowConsumer.rawValue:
            return (
                .slowClosed,
                [
                    "\(begin).", "The client read too slowly, and was closed with `slow_consumer` at \(ended).",
                    "It has not come back with its position since.",
                ]
            )
        case CloseReason.unauthorized.rawValue where !part.session.tokens.isEmpty:
            return (.tokenRefused, ["\(begin)."] + tokenSentences(part.session))
        default:
            return (.notWritten, ["\(begin) at \(ended) with `\(part.stay.cause ?? "unknown")`."])
        }
    }

    /// A subscription that got the event; `loss` is another that did not.
    func decide(had part: Part, before loss: Part?) -> Decision {
        let (subscribed, since) = (time(part.stay.subscribedMs), part.stay.since ?? "an earlier position")
        var sentences: [String]
        switch part.stay.fate {
        case .had:
            let text = "subscribed at \(subscribed) and asked to continue from \(since)"
            return (.hadBefore, ["\(part.name) \(text). So the client said that it had this event."])
        case .recovered:
            sentences = [
                "\(part.name) subscribed at \(subscribed) and asked to continue from \(since).",
                "The missed events, this one among them, were written to its connection.",
            ]
        default: sentences = ["\(part.name) was subscribed, and the event was written to its connection."]
        }
        if !part.stay.isSure {
            sentences.append(
                "It publishes events that are not sent back to it; this one was written unless it is its own.")
        }
        if let loss {
            sentences.append("Before, session \(loss.session.id) did not get it (`\(loss.stay.fate.rawValue)`).")
        }
        if let blocks, blocks.isStandIn, !(blocks.blocks.isEmpty && blocks.blockedBy.isEmpty) {
            return (.mutedByBlock, sentences + standInSentences(blocks))
        }
        sentences.append("Written means that the gateway's system took the bytes; the client may still have lost them.")
        return (.delivered, sentences)
    }

    /// A subscription that the gateway ended before the event; `later` is one after the event.
    func decide(cut part: Part, then later: Part?) -> Decision {
        let ended = time(part.stay.endedMs)
        var decision: Decision
        switch part.stay.cause {
        case SessionFact.Stay.withdrawn:
            let reason = part.stay.message ?? "no reason is known"
            let text = "lost the right to the topic at \(ended), before the event"
            decision = (.noRights, ["\(part.name) \(text): \(reason)"])
        case CloseReason.slowConsumer.rawValue:
            let text = "read too slowly and was closed with `slow_consumer` at \(ended), before the event came."
            decision = (.slowClosed, ["\(part.name) \(text)"])
        default:
            decision = (.tokenRefused, tokenSentences(part.session))
            if decision.sentences.isEmpty {
                decision = (.leftBefore, ["\(part.name) ended at \(ended) with `unauthorized`, before the event came."])
            }
        }
        decision.sentences.append(
            later.map { "The user subscribed again at \(time($0.stay.subscribedMs)), without a position." }
                ?? "The user has not subscribed to the topic since.")
        return decision
    }

    /// A subscription that was not there when the event came.
    func decide(away part: Part) -> Decision {
        let stay = part.stay
        let position = stay.position ?? "not known"
        switch stay.fate {
        case .joinedLater:
            return (
                .joinedLater,
                [
                    "\(part.name) subscribed at \(time(stay.subscribedMs)), after the event.",
                    "The position of its answer is \(position), and it gave no position to continue from.",
                ]
            )
        case .leftBefore where stay.cause == SessionFact.Stay.left:
            return (.leftBefore, ["\(part.name) left the topic at \(time(stay.endedMs)), before the event came."])
        case .leftBefore:
            let text = "ended at \(time(stay.endedMs)) with `\(stay.cause ?? "unknown")`"
            return (.leftBefore, ["\(part.name) \(text), before the event came."])
        case .otherEpoch:
            let text = "was subscribed in another epoch of the topic"
            return (.otherEpoch, ["\(part.name) \(text): its position was \(position)."])
        default: return (.unknown, ["\(part.name) \(unknownReason(part))"])
        }
    }

    private func unknownReason(_ part: Part) -> String {
        if part.stay.isFollowed {
            return "follows the topic by the user's own topic: events have no position there, and it is not known "
                + "whether this one was written."
        }
        if part.session.isFull { return "was subscribed, and changed too often for its record to tell of the event." }
        if part.stay.subscribedMs == nil {
            return "subscribed before its record begins, and the event may be older than the record, too."
        }
        return "was subscribed, and its record does not tell of the event."
    }
}
