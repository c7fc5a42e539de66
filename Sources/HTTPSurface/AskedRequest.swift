import HTTPCodec

/// A request's head, its sender and its time.
struct AskedRequest {
    let head: HTTPRequestHead
    let origin: ClientAddress
    /// The time of its arrival, monotonic milliseconds.
    let atMs: Int
}
