extension Result {
    /// The failure, when it is one.
    public var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
