/// The meaning of a receiver's answer, or of its absence, for the event that was sent.
enum WebhookOutcome: Sendable, Equatable {
    /// The receiver has accepted the event.
    case done
    /// The receiver is unavailable; the event is not at fault.
    case away(String, retryAfterMs: Int?)
    /// The receiver does not accept this event.
    case refused(String, isFinal: Bool)

    /// Applies the table of docs/courier.md.
    init(_ result: Result<WebReply, WebFailure>) {
        switch result {
        case .failure(.unsound), .failure(.tooLarge):
            self = .refused("the request or the answer was too large", isFinal: false)
        case .failure(let failure): self = .away(failure.rawValue, retryAfterMs: nil)
        case .success(let reply) where reply.isGood: self = .done
        case .success(let reply): self = .of(reply.status, reply.retryAfterSeconds)
        }
    }

    /// The reason of a failed attempt for the metric's label: the failure itself, or the class of the status.
    static func label(_ result: Result<WebReply, WebFailure>) -> String {
        switch result {
        case .failure(let failure): failure.rawValue
        case .success(let reply):
            (300..<600).contains(reply.status) ? "status_\(reply.status / 100)xx" : WebhookOutcome.otherStatus
        }
    }

    /// Every value of ``label(_:)``.
    static let labels =
        WebFailure.allCases.map(\.rawValue) + ["status_3xx", "status_4xx", "status_5xx", otherStatus]

    private static let otherStatus = "status_other"

    private static func of(_ status: Int, _ retryAfterSeconds: Int?) -> WebhookOutcome {
        switch status {
        case 408, 429, 502, 503, 504:
            .away("status \(status)", retryAfterMs: retryAfterSeconds.map { min($0, 3_600) * 1_000 })
        case 410, 413: .refused("status \(status)", isFinal: true)
        default: .refused("status \(status)", isFinal: false)
        }
    }
}
