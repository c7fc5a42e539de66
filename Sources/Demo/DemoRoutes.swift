import HTTPSurface
import WebPages

/// The demo's pages, and the paths below `/demo` that they request: guests, people, the order, phones, the inspector.
///
/// Thread: the shard's.
struct DemoRoutes: ExtraRoutes {
    private let guests: GuestRoute?
    private let people: PeopleRoute
    private let orders: OrderRoute
    private let phones: PhoneRoute?
    private let inspector: InspectorKeyRoute

    init(_ site: DemoSite, _ parts: ExtraRouteParts) {
        guests = site.guests.map { GuestRoute(context: parts.context, commands: parts.commands, guests: $0) }
        people = PeopleRoute(context: parts.context, guests: site.guests, people: site.people)
        orders = OrderRoute(context: parts.context, topics: parts.topics, reactor: parts.reactor, site: site)
        inspector = InspectorKeyRoute(key: site.apiKey)
        phones = site.phones.map { PhoneRoute(context: parts.context, phones: $0) }
    }

    func isOwnPagesOnly(_ request: HTTPRequest) -> Bool {
        request.segments.first == "demo" || request.segments.first == "inspector"
    }

    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool {
        let segments = request.segments
        // The page shows the inspector in a frame, and only this origin's pages may.
        let frames: WebPages.Frames = segments.first == "inspector" ? .framedByOwn : .framesOwn
        if PageRoute.answers(request, frames: frames, respond) { return true }
        guard segments.first == "demo", segments.count >= 2 else { return false }
        switch (segments[1], segments.count) {
        case ("guest", 2):
            guard let guests else { return false }
            guests.answer(request, respond)
        case ("inspector", 2): inspector.answer(request, respond)
        case ("people", 2): people.answer(request, respond)
        case ("order", 2): orders.answer(request, respond)
        case ("phone", 3...):
            guard let phones else { return false }
            phones.answer(request, segments.dropFirst(2), respond)
        default: return false
        }
        return true
    }
}
