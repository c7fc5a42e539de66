import Core

/// A service outside as the courier's desk knows it: it answers requests, each one JSON object.
///
/// Thread: the courier's.
protocol OutsideService: AnyObject {
    /// What scripts call it.
    var name: String { get }
    /// Whether so much failed that no calls are taken.
    var isOpen: Bool { get }
    /// How long one try of a call may take, milliseconds.
    var tryMs: Int { get }
    /// Calls in hand at once.
    var heldMax: Int { get }
    /// Requests made, and those of them that failed.
    var requests: Int { get }
    /// See ``requests``.
    var failures: Int { get }

    /// Answers a request by one JSON value; `completion` is called once, by `deadlineMs` or soon after.
    func ask(
        _ request: JSON.Value, deadlineMs: Int,
        _ completion: @escaping (Result<[UInt8], ServiceFailure>) -> Void)
}
