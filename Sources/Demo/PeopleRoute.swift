import Core
import HTTPCodec
import HTTPSurface
import Operations
import Rights
import Service

/// `GET /demo/people?tab=NAME`: who the simulated people are, and word to them that a guest looks at a tab.
///
/// The guest's token says who looks. Without people the answer names nobody. Only where pages are served, which is
/// `switchboard dev`. Thread: the shard's.
struct PeopleRoute {
    let context: HTTPContext
    let guests: DemoGuests?
    /// `nil` when no people were started.
    let people: DemoPeople?

    /// Visits are limited by one rate of the node, like a user's commands; the name cannot be a user's.
    private static let allowance = Array("/demo/people".utf8)
    private static let tabBytesMax = 20

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ respond: Respond) {
        guard request.head.method == .get else { return respond(.methodNotAllowed([.get], keepAlive: true)) }
        guard let people, let guests else { return respond(PeopleRoute.response([], code: "")) }
        let shown = request.head.headers.values(of: "authorization").first.map { $0.dropFirst("Bearer ".utf8.count) }
        guard let token = shown, let user = guests.user(of: Array(token), nowSeconds: context.clock.wallSeconds) else {
            return respond(.refusal(Refusal(.unauthorized, "the people greet guests of the demo"), keepAlive: true))
        }
        if let waitMs = context.rates.waitForUserAction(PeopleRoute.allowance, nowMs: context.clock.nowMs) {
            let refusal = Refusal(.rateLimited, "too many visits at once; try again", retryAfterMs: waitMs)
            return respond(.refusal(refusal, keepAlive: true))
        }
        if case .one(let tab) = request.head.queryItem("tab"), tab.count <= PeopleRoute.tabBytesMax {
            people.note(DemoPeople.Visit(user: user, tab: String(decoding: tab, as: UTF8.self)))
        }
        respond(PeopleRoute.response(DemoPeople.names, code: people.sessionCode))
    }

    private static func response(_ names: [String], code: String) -> HTTPResponse {
        var body = [UInt8(ascii: "{")]
        body.append(member: "people")
        body.append(arrayOf: names) { $0.append(jsonString: $1) }
        body.append(member: "session", string: code)
        body.append(UInt8(ascii: "}"))
        var response = HTTPResponse.json(status: 200, body: body, keepAlive: true)
        response.set(.cacheControl, "no-store")
        return response
    }
}
