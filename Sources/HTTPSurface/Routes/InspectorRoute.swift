import HTTPCodec

/// `GET /inspector`: the operator's page, and the files that it is made of.
///
/// They hold no data. The page asks the routes of the same listener, with an API key. Thread: the shard's.
struct InspectorRoute {
    let pages: PageCheck

    /// Answers a request for the page; false for any other path.
    func answers(_ request: HTTPRequest, _ respond: Respond) -> Bool {
        guard request.segments.first == "inspector" else { return false }
        if let refusal = pages.refusalOfForeign(request.head, request.origin) {
            respond(.refusal(refusal, keepAlive: true))
            return true
        }
        return PageRoute.answers(request, respond)
    }
}
