import Core

/// An outside service: it answers requests, each one JSON object.
///
/// Thread: the courier's.
protocol OutsideService: AnyObject {
    /// The name that scripts use.
    var name: String { get }
    /// Whether so many requests failed that no calls are taken.
    var isOpen: Bool { get }
    /// The longest time of one try of a call, milliseconds.
    var tryMs: Int { get }
    /// The most calls in hand at once.
    var heldMax: Int { get }
    /// Requests made, failed ones included.
    var requests: Int { get }
    /// Requests that failed.
    var failures: Int { get }

    /// Answers a request by one JSON value; `completion` is called once, by `deadlineMs` or soon after.
    func ask(
        _ request: JSON.Value, deadlineMs: Int,
        _ completion: @escaping (Result<[UInt8], ServiceFailure>) -> Void)
}
