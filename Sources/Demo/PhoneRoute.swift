import Core
import HTTPCodec
import HTTPSurface
import Rights

/// `GET /demo/phone/{token}`: the display of a phone; `POST /demo/phone/{token}/read`: its app takes notifications
/// away.
///
/// The body is `{"ids":[...],"badge":0,"order":1}`; it also sets the badge. Anyone who knows the token of a device may
/// see the device: the page draws it at random and shares it with nobody else. Only where pages are served, which is
/// `switchboard dev`. Thread: the shard's.
struct PhoneRoute {
    let context: HTTPContext
    let phones: DemoPhones

    /// Maximum ids of one request.
    private static let idsMax = 1_000

    /// Answers the request; `rest` is the path behind `/demo/phone`.
    func answer(_ request: HTTPRequest, _ rest: ArraySlice<String>, _ respond: Respond) {
        guard let token = rest.first.flatMap({ DemoPhoneBook.token($0.utf8) }), rest.count <= 2,
            rest.count == 1 || rest.last == "read"
        else { return respond(.refusal(Refusal(.notFound, "there is no such phone"), keepAlive: true)) }
        if rest.count == 1 {
            guard request.head.method == .get else { return respond(.methodNotAllowed([.get], keepAlive: true)) }
            var response = HTTPResponse.json(status: 200, body: phones.text(of: token), keepAlive: true)
            response.set(.cacheControl, "no-store")
            return respond(response)
        }
        guard request.head.method == .post else { return respond(.methodNotAllowed([.post], keepAlive: true)) }
        guard let body = try? JSON(parsing: request.body, limits: context.limits.json), let ids = body.root["ids"],
            ids.kind == .array
        else { return respond(.refusal(Refusal(.badRequest, "ids must be an array of texts"), keepAlive: true)) }
        phones.clear(
            ids.members.prefix(PhoneRoute.idsMax).compactMap(\.stringBytes), badge: body.root["badge"]?.int,
            order: body.root["order"]?.int, on: token)
        respond(HTTPResponse(status: 204, body: [], keepAlive: true))
    }
}
