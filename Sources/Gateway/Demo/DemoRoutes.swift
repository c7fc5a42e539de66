import HTTPCodec

/// The paths below `/demo` that the demo's page requests: guests, the order, phones.
///
/// Only where pages are served, which is `switchboard dev`. Thread: the shard's.
struct DemoRoutes {
    private let guests: GuestRoute?
    private let orders: OrderRoute
    private let phones: PhoneRoute?

    init(shard: Shard) {
        guests = shard.node.guests.map { GuestRoute(shard: shard, guests: $0) }
        orders = OrderRoute(shard: shard)
        phones = shard.node.phones.map { PhoneRoute(shard: shard, phones: $0) }
    }

    /// Answers a request of the demo; false for a path that is not one of these.
    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool {
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
}
