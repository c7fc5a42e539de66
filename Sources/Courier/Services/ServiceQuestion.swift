import Core

/// A question that a gateway left for couriers (docs/courier.md, "Questions"); its bytes come from Redis.
struct ServiceQuestion {
    /// The question's id, and the channel of its answer.
    let id: [UInt8]
    let channel: [UInt8]
    /// The request.
    let request: JSON.Value
    /// The time at which the caller stops waiting, milliseconds since 1970.
    let untilMs: Int

    private static let limits = JSON.Limits(depthMax: 34, elementsMax: 10_000)

    /// Reads a question; `nil` when it is malformed, or when its answer would not go to a gateway.
    init?(_ text: [UInt8], _ keys: Keys) {
        guard let root = try? JSON(parsing: text, limits: ServiceQuestion.limits).root,
            let id = root["id"]?.stringBytes,
            (1...64).contains(id.count), id.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            let channel = root["to"]?.stringBytes, channel.starts(with: keys.node([])), let until = root["until"]?.int,
            Timestamp.range.contains(until), let request = root["request"], request.kind == .object
        else { return nil }
        (self.id, self.channel, self.request, untilMs) = (id, channel, request, until)
    }

    /// The answer in the form that is published.
    func answer(_ result: Result<[UInt8], ServiceFailure>) -> [UInt8] {
        switch result {
        case .success(let text): return id + Array(" ok\n".utf8) + text
        case .failure(let failure):
            let seconds = min(max(((failure.retryAfterMs ?? 1_000) + 999) / 1_000, 1), 3_600)
            return id + Array(" failed \(seconds)\n".utf8)
        }
    }
}
