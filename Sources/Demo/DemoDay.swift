import Core

/// The accelerated days of a barbershop: arrivals, services and music, by chance, and always by the rules.
///
/// It only decides. ``DemoShop`` calls the commands that it names, and reports the state of the shop. It continues
/// without such reports. Pure: the same generator and the same reports give the same days.
struct DemoDay<Random: RandomNumberGenerator> {
    /// A future happening.
    enum Happening {
        case dayBegins, dayEnds, arrival, seating, clock, renewal, track, vote, nextTrack, post
        case shiftBegins(barber: String)
        case shiftEnds(barber: String)
        case confirmation(booking: String)
        case completion(booking: String)
        case departure(customer: String)
    }

    /// An open booking.
    struct Booking {
        let user: String
        let isBlackCard: Bool
        /// Whether it belongs to a user of the page, whose bookings always go well.
        let isGuest: Bool
        var status: DemoBookingStatus
    }

    /// Makes ids unique over runs.
    let run: String
    var random: Random
    /// Milliseconds since the demo began.
    var nowMs = 0
    var agenda = DemoAgenda<Happening>()
    /// Decided steps that were not returned yet.
    var decided = Ring<DemoStep>()

    var bookings: [String: Booking] = [:]
    /// Confirmed bookings, in the order of arrival.
    var line: [String] = []
    /// Barbers at work, each with the booking being served.
    var atWork: [String: String?] = [:]
    /// Barbers who leave as soon as their chair is empty.
    var leaving: Set<String> = []
    /// Customers in the shop, with the time of their last check-in.
    var present: [String: Int] = [:]
    /// Tracks believed to be queued.
    var tracks: [String] = []
    var bookingsMade = 0
    var tracksAdded = 0
    var postsMade = 0

    /// Begins on a Monday morning; `run` distinguishes this run's ids from those of others.
    init(run: String, random: Random) {
        self.run = run
        self.random = random
        resume()
        for customer in DemoCast.customers.prefix(8) { points(customer, 5 * chance(4...40)) }
        for customer in DemoCast.customers.prefix(5) { arrive(customer, stayMinutes: chance(60...200)) }
        for _ in 0..<6 { addTrack() }
        call("next_track", [:])
        agenda.add(.dayBegins, atMs: 0)
        let first: [Happening] = [.clock, .renewal, .track, .vote, .nextTrack, .post]
        for happening in first { agenda.add(happening, atMs: chance(500...2_000)) }
    }

    /// The next step; there is always one.
    mutating func next() -> DemoStep {
        while true {
            if let step = decided.popFirst() { return step }
            guard let (atMs, happening) = agenda.popFirst() else {
                // The clock always has a next turn, so this cannot happen; if it did, the day would begin anew.
                agenda.add(.clock, atMs: nowMs)
                agenda.add(.dayBegins, atMs: nowMs)
                continue
            }
            nowMs = max(nowMs, atMs)
            handle(happening)
        }
    }

    // MARK: Reports from the shop

    /// Repeats the calls that set up the shop, for a store that may have lost them.
    mutating func resume() {
        call("set_shop", ["estimator": "simulated"])
        call("start_session", [:])
        for barber in atWork.keys.sorted() { call("set_barber", ["barberId": barber, "active": "true"]) }
        for customer in present.keys.sorted() { checkIn(customer) }
    }

    /// Takes the tracks that are really queued: guests add some, too.
    mutating func see(tracks seen: [String]) {
        tracks = Array(seen.prefix(50))
    }

    /// Takes a booking that is really open; a guest's booking is from now on served like any other.
    mutating func see(booking id: String, user: String, status: DemoBookingStatus) {
        guard bookings[id] == nil, status.isOpen, bookings.count < 100 else { return }
        bookings[id] = Booking(user: user, isBlackCard: false, isGuest: true, status: status)
        switch status {
        case .pending: agenda.add(.confirmation(booking: id), atMs: nowMs + chance(1_500...3_000))
        case .confirmed:
            line.append(id)
            agenda.add(.seating, atMs: nowMs)
        default: agenda.add(.completion(booking: id), atMs: nowMs + minutes(5))
        }
    }

    /// A guest looks at the shop: somebody there queues a track now, where there is room, or votes.
    mutating func welcome() {
        guard DemoClock.isDay(nowMs) else { return }
        if tracks.count < Self.tracksMax { addTrack() } else { vote() }
    }

    /// A call was refused: a booking that does not move is forgotten, and its chair is free.
    mutating func refused(_ refusedCall: DemoCall) {
        guard refusedCall.command == "move_booking" || refusedCall.command == "create_booking",
            let id = refusedCall.arguments["bookingId"]
        else { return }
        close(id)
        agenda.add(.seating, atMs: nowMs)
    }
}
