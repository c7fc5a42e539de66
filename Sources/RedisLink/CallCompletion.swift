/// The completion of a script's call, as a value.
///
/// A closure that is stored in a generic type is wrapped in another closure each time; a structure is not.
struct CallCompletion {
    private let completion: RedisCalls.Completion

    init(_ completion: @escaping RedisCalls.Completion) {
        self.completion = completion
    }

    /// Passes on the reply or the failure.
    func callAsFunction(_ result: Result<RESPValue, RedisFailure>) { completion(result) }
}
