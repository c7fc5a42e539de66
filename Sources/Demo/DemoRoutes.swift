import HTTPCodec
import HTTPSurface
import WebPages

/// The demo's pages, and the paths below `/demo` that they request: guests, the order, phones.
///
/// Thread: the shard's.
struct DemoRoutes: ExtraRoutes {
    private let guests: GuestRoute?
    private let orders: OrderRoute
    private let phones: PhoneRoute?

    init(_ site: DemoSite, _ parts: ExtraRouteParts) {
        guests = site.guests.map { GuestRoute(context: parts.context, commands: parts.commands, guests: $0) }
        orders = OrderRoute(context: parts.context, topics: parts.topics, reactor: parts.reactor, site: site)
        phones = site.phones.map { PhoneRoute(context: parts.context, phones: $0) }
    }

    func isOwnPagesOnly(_ request: HTTPRequest) -> Bool { request.segments.first == "demo" }

    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool {
        if answersPage(request, respond) { return true }
        let segments = request.segments
        guard segments.first == "demo", segments.count >= 2 else { return false }
        switch (segments[1], segments.count) {
        case ("guest", 2):
            guard let guests else { return false }
            guests.answer(request, respond)
        case ("order", 2): orders.answer(request, respond)
        case ("phone", 3...):
            guard let phones else { return false }
            phones.answer(request, segments.dropFirst(2), respond)
        default: return false
        }
        return true
    }

    private func answersPage(_ request: HTTPRequest, _ respond: Respond) -> Bool {
        guard let file = WebPages.files["/" + request.segments.joined(separator: "/")] else { return false }
        guard request.head.method == .get || request.head.method == .head else {
            respond(.methodNotAllowed([.get, .head], keepAlive: true))
            return true
        }
        var response = HTTPResponse.typed(
            HTTPHeaderValue(file.contentType) ?? "text/plain", status: 200, body: file.bytes, keepAlive: true)
        response.set(.contentSecurityPolicy, HTTPHeaderValue(WebPages.contentSecurityPolicy) ?? "default-src 'none'")
        response.set(.cacheControl, "no-cache")
        response.set(.referrerPolicy, "no-referrer")
        respond(response)
        return true
    }
}
