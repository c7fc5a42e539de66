import Core

/// Questions about rights, which a server answers together.
///
/// `ACL DRYRUN` (Redis 7.0) answers without running the command. Pure.
public protocol RightsInquiry {
    /// The result.
    associatedtype Rights

    /// The questions for a server with these facts; none where nothing is to be asked.
    func questions(_ facts: ServerFacts) -> [RedisCall]
    /// The rights by the answers to all questions, in their order; a single failure where nothing could be asked.
    func rights(_ answers: [Result<RESPValue, RedisFailure>]) -> Rights
}

extension CallLink {
    /// Asks the server all questions at once; `completion` runs once.
    public func ask<Inquiry: RightsInquiry>(_ inquiry: Inquiry, _ completion: @escaping (Inquiry.Rights) -> Void) {
        guard let facts else { return completion(inquiry.rights([.failure(RedisFailure(.disconnected))])) }
        let questions = inquiry.questions(facts)
        guard !questions.isEmpty else { return completion(inquiry.rights([])) }
        var answers: [Result<RESPValue, RedisFailure>] = []
        for question in questions {
            call(question) { answer in
                answers.append(answer)
                if answers.count == questions.count { completion(inquiry.rights(answers)) }
            }
        }
    }
}
