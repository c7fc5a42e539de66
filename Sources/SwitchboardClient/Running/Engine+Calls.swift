extension Engine {
    private static let idBytesMax = 128

    /// Runs a call until its answer; a cancelled caller receives `.cancelled` at once.
    func call(_ event: String, _ topic: String?, _ body: String, _ id: String, _ options: SwitchboardClient.CallOptions)
        async throws(SwitchboardError) -> JSONValue
    {
        let isName = id.utf8.allSatisfy { Engine.nameBytes.contains($0) }
        guard isName, (1...Engine.idBytesMax).contains(id.utf8.count) else {
            throw SwitchboardError(.server("bad_request"), "An id has 1 to 128 of A-Z a-z 0-9 . _ ~ : -.")
        }
        startOnUse()
        let ticket = number()
        let wall = Engine.wallMs
        var terms = CallTerms(ticket: ticket, timeoutMs: Engine.milliseconds(options.timeout))
        var expires = wall + terms.timeoutMs
        switch options.whenOffline {
        case .fail: terms.failsOffline = true
        case .wait: break
        case .keep(let seconds):
            terms.isKept = true
            expires = wall + Engine.milliseconds(seconds)
        }
        let entry = OutboxEntry(
            id: id, event: event, topic: topic, body: body, user: nil, lane: options.lane,
            isRepeatable: options.isRepeatable, createdAtMs: wall, expiresAtMs: expires, firstSentAtMs: nil)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.with { $0.waiters[ticket] = continuation }
                take(.call(entry, terms))
                // The handler may have run before the call existed.
                if Task.isCancelled { take(.cancel(ticket: ticket)) }
            }
        } onCancel: {
            take(.cancel(ticket: ticket))
        }
        return try result.get()
    }

    private static let nameBytes = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:-".utf8)

    /// An app's seconds as milliseconds, from 0 to a year; 0 for a value that is no number.
    private static func milliseconds(_ seconds: Double) -> Int64 {
        seconds.isNaN ? 0 : Int64(min(max(seconds, 0), 31_536_000) * 1_000)
    }
}
