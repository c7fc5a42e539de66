/// A request method this server knows (RFC 9110 section 9, RFC 5789); case-sensitive, so `get` is not among them.
///
/// CONNECT is left out on purpose: no tunnel is ever wanted, and it is answered 501 like an unknown method.
public enum HTTPMethod: String, CaseIterable, Sendable {
    /// Transfer a representation; the only method that may open a WebSocket.
    case get = "GET"
    /// As GET, with the body left out of the answer.
    case head = "HEAD"
    /// Process the body.
    case post = "POST"
    /// Replace; known so that routes can answer 405.
    case put = "PUT"
    /// Modify; known so that routes can answer 405.
    case patch = "PATCH"
    /// Remove; known so that routes can answer 405.
    case delete = "DELETE"
    /// Describe the options; CORS preflights.
    case options = "OPTIONS"
    /// As GET, with a body that holds the query; known so that routes can answer 405.
    case query = "QUERY"
    /// Echo the request; known so that routes can answer 405, and never performed.
    case trace = "TRACE"

    /// Recognises a method by its exact bytes.
    init?(bytes: ArraySlice<UInt8>) {
        guard let known = HTTPMethod.allCases.first(where: { bytes.elementsEqual($0.rawValue.utf8) }) else {
            return nil
        }
        self = known
    }
}
