@testable import Demo

/// The shop as its scripts keep it, written anew from their documentation: says what each call of the demo leads to.
struct ModelShop {
    /// What a call did against the rules of the scripts; such a call is refused and changes nothing.
    struct Breach: Equatable, CustomStringConvertible {
        let call: DemoCall
        let why: String
        var description: String { "\(call.command) \(call.arguments): \(why)" }
    }

    var bookings: [String: (user: String, status: DemoBookingStatus, barber: String?)] = [:]
    var closed: Set<String> = []
    var barbers: Set<String> = []
    var presentUntilMs: [String: Int] = [:]
    /// Queued tracks with the score each has; the first added first.
    var queue: [(id: String, score: Int)] = []
    var points: [String: Int] = [:]
    var counts: [String: Int] = [:]
    var breaches: [Breach] = []

    private static let moves: [DemoBookingStatus: Set<DemoBookingStatus>] = [
        .pending: [.confirmed, .cancelled], .confirmed: [.inProgress, .cancelled, .noShow], .inProgress: [.completed],
    ]

    /// Does a call; false when it is refused.
    mutating func take(_ call: DemoCall, nowMs: Int) -> Bool {
        let before = breaches.count
        counts[call.command, default: 0] += 1
        perform(call, { call.arguments[$0] ?? "" }, nowMs)
        return breaches.count == before
    }

    private mutating func perform(_ call: DemoCall, _ argument: (String) -> String, _ nowMs: Int) {
        func breach(_ why: String) { breaches.append(Breach(call: call, why: why)) }
        let user = argument("userId")
        switch call.command {
        case "set_shop", "start_session", "publish_post": break
        case "set_barber":
            if argument("active") == "true" {
                barbers.insert(argument("barberId"))
            } else {
                if bookings.values.contains(where: { $0.barber == argument("barberId") }) {
                    breach("the barber has somebody in the chair")
                }
                barbers.remove(argument("barberId"))
            }
        case "create_booking":
            let id = argument("bookingId")
            if bookings[id] != nil || closed.contains(id) { return breach("exists") }
            if !isPresent(user, nowMs) { return breach("not at the shop") }
            bookings[id] = (user, .pending, nil)
        case "move_booking": move(call, argument("bookingId"), argument("status"), call.arguments["barberId"])
        case "check_in": presentUntilMs[user] = nowMs + 90_000
        case "check_out":
            if !isPresent(user, nowMs) { breach("leaves without being there") }
            presentUntilMs[user] = nil
        case "add_track":
            if !isPresent(user, nowMs) { return breach("Must be at shop to vote") }
            if queue.contains(where: { $0.id == argument("trackId") }) { return breach("queued already") }
            queue.append((argument("trackId"), 1))
        case "vote":
            if !isPresent(user, nowMs) { return breach("Must be at shop to vote") }
            guard let index = queue.firstIndex(where: { $0.id == argument("trackId") }) else {
                return breach("no such track")
            }
            queue[index].score += argument("vote") == "up" ? 1 : -1
        case "next_track":
            guard let best = queue.map(\.score).max(), let index = queue.firstIndex(where: { $0.score == best }) else {
                return
            }
            queue.remove(at: index)
        case "add_points": points[user, default: 0] += Int(argument("points")) ?? 0
        default: breach("no such command")
        }
    }

    private mutating func move(_ call: DemoCall, _ id: String, _ status: String, _ barber: String?) {
        func breach(_ why: String) { breaches.append(Breach(call: call, why: why)) }
        guard let booking = bookings[id] else { return breach("no such booking") }
        guard let to = DemoBookingStatus(rawValue: status), ModelShop.moves[booking.status]?.contains(to) == true else {
            return breach("an illegal move from \(booking.status)")
        }
        if let barber {
            if !barbers.contains(barber) { breach("the barber is not at work") }
            if bookings.values.contains(where: { $0.barber == barber }) { breach("the chair is taken") }
        } else if to == .inProgress {
            breach("nobody serves")
        }
        bookings[id] = (booking.user, to, barber)
        counts["\(to)", default: 0] += 1
        if !to.isOpen {
            bookings[id] = nil
            closed.insert(id)
        }
    }

    func isPresent(_ user: String, _ nowMs: Int) -> Bool { (presentUntilMs[user] ?? 0) > nowMs }
}
