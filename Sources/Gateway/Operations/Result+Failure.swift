extension Result {
    /// The failure, when it is one.
    var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
