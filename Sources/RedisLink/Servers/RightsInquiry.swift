import Core

/// The next step of a ``RightsInquiry``.
public enum InquiryStep<Rights: Equatable>: Equatable {
    /// Send this call, and give its answer to the inquiry.
    case ask(RedisCall)
    /// Nothing is left to ask.
    case done(Rights)
}

/// Questions about rights that a server answers one after the other.
///
/// `ACL DRYRUN` (Redis 7.0) answers without running the command. Pure.
public protocol RightsInquiry {
    /// The result.
    associatedtype Rights: Equatable

    /// The first step for a server with these facts.
    func begin(_ facts: ServerFacts) -> InquiryStep<Rights>
    /// Takes the answer to the last question.
    mutating func answered(_ result: Result<RESPValue, RedisFailure>) -> InquiryStep<Rights>
    /// The rights as far as they are known without an answer.
    static func unknown(_ failure: RedisFailure) -> Rights
}

extension CallLink {
    /// Asks the server; `completion` runs once, with what is known without an answer after a lost connection.
    public func ask<Inquiry: RightsInquiry>(_ inquiry: Inquiry, _ completion: @escaping (Inquiry.Rights) -> Void) {
        guard let facts else { return completion(Inquiry.unknown(RedisFailure(.disconnected))) }
        take(inquiry.begin(facts), inquiry, completion)
    }

    private func take<Inquiry: RightsInquiry>(
        _ step: InquiryStep<Inquiry.Rights>, _ inquiry: Inquiry, _ completion: @escaping (Inquiry.Rights) -> Void
    ) {
        switch step {
        case .done(let rights): completion(rights)
        case .ask(let question):
            call(question) { [weak self] result in
                var inquiry = inquiry
                let step = inquiry.answered(result)
                guard let self else { return completion(Inquiry.unknown(RedisFailure(.disconnected))) }
                take(step, inquiry, completion)
            }
        }
    }
}
