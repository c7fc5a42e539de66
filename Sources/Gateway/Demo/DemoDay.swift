import Core

/// A barbershop's days at speed: who comes, who is served, what plays; by chance, and always by the rules.
///
/// It decides only; ``DemoShop`` calls the commands it names and tells it what it then sees. Without being told
/// anything it goes on as well. Pure: the same generator and the same words give the same days.
struct DemoDay<Random: RandomNumberGenerator> {
    /// What will happen at a time.
    enum Happening {
        case dayBegins, dayEnds, arrival, seating, clock, renewal, track, vote, nextTrack, post
        case shiftBegins(barber: String)
        case shiftEnds(barber: String)
        case confirmation(booking: String)
        case completion(booking: String)
        case departure(customer: String)
    }

    /// A booking that is open.
    struct Booking {
        let user: String
        let isBlackCard: Bool
        /// Somebody at the page, whose bookings always go well.
        let isGuest: Bool
        var status: DemoBookingStatus
    }

    /// What makes ids unique over runs.
    let run: String
    var random: Random
    /// Milliseconds since the demo began.
    var nowMs = 0
    var agenda = DemoAgenda<Happening>()
    /// Decided, and not yet told.
    var decided = Ring<DemoStep>()

    var bookings: [String: Booking] = [:]
    /// Confirmed bookings, who came first first.
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

    /// Begins on a Monday morning; `run` tells this run's ids from those of others.
    init(run: String, random: Random) {
        self.run = run
        self.random = random
        resume()
        for customer in DemoCast.customers.prefix(8) { points(customer, 5 * chance(4...40)) }
        for customer in DemoCast.customers.prefix(5) { arrive(customer, stayMinutes: chance(60...200)) }
        for _ in 0..<6 { addTrack() }
        call("next_track", [:])
        let first: [Happening] = [.dayBegins, .clock, .renewal, .track, .vote, .nextTrack, .post]
        for happening in first { agenda.add(happening, atMs: happening.isDayBegins ? 0 : chance(500...2_000)) }
    }

    /// What is done next; there is always something.
    mutating func next() -> DemoStep {
        while true {
            if let step = decided.popFirst() { return step }
            guard let (atMs, happening) = agenda.popFirst() else {
                // The clock always has its next turn, so this cannot be; if it were, the day would begin anew.
                agenda.add(.clock, atMs: nowMs)
                agenda.add(.dayBegins, atMs: nowMs)
                continue
            }
            nowMs = max(nowMs, atMs)
            handle(happening)
        }
    }

    // MARK: What the shop sees

    /// Says again all that must be so, for a store that may have lost it.
    mutating func resume() {
        call("set_shop", ["estimator": "simulated"])
        call("start_session", [:])
        for barber in atWork.keys.sorted() { call("set_barber", ["barberId": barber, "active": "true"]) }
        for customer in present.keys.sorted() { checkIn(customer) }
    }

    /// Takes the tracks that are queued in truth: guests add some, too.
    mutating func see(tracks seen: [String]) {
        tracks = Array(seen.prefix(50))
    }

    /// Takes a booking that is open in truth; one of a guest is from now on served like any other.
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

    /// A call was refused: a booking that does not move is forgotten, and its chair is free.
    mutating func refused(_ refusedCall: DemoCall) {
        guard refusedCall.command == "move_booking" || refusedCall.command == "create_booking",
            let id = refusedCall.arguments["bookingId"]
        else { return }
        close(id)
        agenda.add(.seating, atMs: nowMs)
    }
}
