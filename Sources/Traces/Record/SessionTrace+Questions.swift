public import Core

/// Questions to the record; each answer is bounded.
extension SessionTrace {
    /// Begins a search for the newest `limit` sessions that fit; `about` leaves out what concerns other topics.
    public func search(_ filter: TraceSearch.Filter, about: Topic? = nil, limit: Int) -> TraceSearch {
        TraceSearch(ring, filter, about: about, limit: limit, nowMs: nowMs())
    }

    /// The sessions that have ended and fit, in the order of their ends; at most the last `limit`.
    public func closed(_ filter: TraceSearch.Filter, limit: Int) -> [TracedSession] {
        var filter = filter
        filter.isClosedOnly = true
        return all(search(filter, limit: limit))
    }

    /// A user's sessions, with what they had to do with a topic, oldest first; at most the newest `limit`.
    public func sessions(of user: [UInt8], on topic: Topic, limit: Int) -> [TracedSession] {
        all(search(TraceSearch.Filter(user: user), about: topic, limit: limit))
    }

    /// The sessions that had to do with a topic, oldest first; at most the newest `limit`.
    public func sessions(on topic: Topic, limit: Int) -> [TracedSession] {
        all(search(TraceSearch.Filter(topic: topic), about: topic, limit: limit))
    }

    private func all(_ search: TraceSearch) -> [TracedSession] {
        var search = search
        while true {
            if let found = search.step() { return found }
        }
    }
}
