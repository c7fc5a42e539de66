import Core

extension DemoDay {
    /// Age from which a check-in is renewed, milliseconds; the shop forgets it after 90 s.
    private static var renewedAfterMs: Int { 50_000 }
    /// Number of people waiting from which newcomers leave again.
    private static var lineMax: Int { 6 }
    /// Number of queued tracks from which no more are added.
    static var tracksMax: Int { 8 }

    mutating func handle(_ happening: Happening) {
        switch happening {
        case .dayBegins: beginDay()
        case .dayEnds: endDay()
        case .shiftBegins(let barber): beginShift(barber)
        case .shiftEnds(let barber): endShift(barber)
        case .arrival: somebodyComes()
        case .confirmation(let id): confirm(id)
        case .seating: seat()
        case .completion(let id): complete(id)
        case .departure(let customer): depart(customer)
        case .renewal: renew()
        case .track, .vote, .nextTrack, .post, .clock: recur(happening)
        }
    }

    // MARK: The day

    private mutating func beginDay() {
        let (day, _) = DemoClock.place(nowMs)
        call("start_session", [:])
        for (index, barber) in DemoCast.barbers.enumerated() {
            let isAllDay = index < 2
            guard isAllDay || chance(1...10) <= 8 else { continue }
            let begin = isAllDay ? DemoClock.openMinutes.lowerBound : chance(540...690)
            let end = isAllDay ? DemoClock.openMinutes.upperBound : min(begin + chance(240...420), 1_140)
            agenda.add(.shiftBegins(barber: barber), atMs: DemoClock.ms(day: day, minute: begin))
            agenda.add(.shiftEnds(barber: barber), atMs: DemoClock.ms(day: day, minute: end))
        }
        agenda.add(.arrival, atMs: DemoClock.ms(day: day, minute: 525))
        agenda.add(.dayEnds, atMs: DemoClock.ms(day: day, minute: DemoClock.openMinutes.upperBound + 10))
        agenda.add(.dayBegins, atMs: DemoClock.ms(day: day + 1, minute: DemoClock.dayMinutes.lowerBound))
    }

    /// Cancels the bookings that have not been served.
    private mutating func endDay() {
        for (id, booking) in bookings.sorted(by: { $0.key < $1.key }) where booking.status != .inProgress {
            move(id, to: .cancelled)
        }
        for customer in present.keys.sorted() where !bookings.values.contains(where: { $0.user == customer }) {
            agenda.add(.departure(customer: customer), atMs: nowMs + minutes(chance(1...15)))
        }
    }

    private mutating func beginShift(_ barber: String) {
        leaving.remove(barber)
        guard atWork[barber] == nil else { return }
        atWork[barber] = .some(nil)
        call("set_barber", ["barberId": barber, "active": "true"])
        agenda.add(.seating, atMs: nowMs)
    }

    private mutating func endShift(_ barber: String) {
        guard let chair = atWork[barber] else { return }
        guard chair == nil else {
            leaving.insert(barber)
            return
        }
        leaving.remove(barber)
        atWork[barber] = nil
        call("set_barber", ["barberId": barber, "active": "false"])
    }

    // MARK: Bookings

    private mutating func somebodyComes() {
        let (_, minute) = DemoClock.place(nowMs)
        guard minute < DemoClock.openMinutes.upperBound - 30 else { return }
        agenda.add(.arrival, atMs: nowMs + minutes(chance(3...10)))
        let idle = DemoCast.customers.filter { name in !bookings.values.contains { $0.user == name } }
        guard line.count < Self.lineMax, let customer = idle.randomElement(using: &random) else { return }
        guard chance(1...5) > 1 else { return arrive(customer, stayMinutes: chance(30...150)) }
        if present[customer] == nil { arrive(customer, stayMinutes: nil) }
        bookingsMade += 1
        let id = "d-\(run)-\(bookingsMade)"
        let isBlackCard = chance(1...5) == 1
        bookings[id] = Booking(user: customer, isBlackCard: isBlackCard, isGuest: false, status: .pending)
        call(
            "create_booking",
            ["bookingId": id, "userId": customer, "tier": isBlackCard ? "blackCard" : "standard"])
        agenda.add(.confirmation(booking: id), atMs: nowMs + minutes(chance(1...4)))
    }

    private mutating func confirm(_ id: String) {
        guard let booking = bookings[id], booking.status == .pending else { return }
        guard booking.isGuest || chance(1...12) > 1 else { return move(id, to: .cancelled) }
        move(id, to: .confirmed)
        line.append(id)
        agenda.add(.seating, atMs: nowMs + minutes(1))
    }

    /// Gives every free chair to the next in line; members of the Black Card go first.
    private mutating func seat() {
        for barber in atWork.keys.sorted() where atWork[barber] == .some(nil) && !leaving.contains(barber) {
            guard let id = nextInLine() else { return }
            atWork[barber] = id
            move(id, to: .inProgress, barber: barber)
            agenda.add(.completion(booking: id), atMs: nowMs + minutes(chance(15...38)))
        }
    }

    /// Takes the next customer who is really present: some have left, and a few never came.
    private mutating func nextInLine() -> String? {
        while let id = line.first(where: { bookings[$0]?.isBlackCard == true }) ?? line.first {
            line.removeAll { $0 == id }
            guard let booking = bookings[id] else { continue }
            guard !booking.isGuest, chance(1...12) == 1 else { return id }
            move(id, to: chance(1...2) == 1 ? .noShow : .cancelled)
        }
        return nil
    }

    private mutating func complete(_ id: String) {
        guard let booking = bookings[id], booking.status == .inProgress else { return }
        move(id, to: .completed)
        points(booking.user, 5 * chance(2...8))
        agenda.add(.seating, atMs: nowMs + minutes(1))
    }

    /// Moves a booking, and updates line and chair.
    private mutating func move(_ id: String, to status: DemoBookingStatus, barber: String? = nil) {
        var arguments = ["bookingId": id, "status": status.rawValue]
        if let barber { arguments["barberId"] = barber }
        call("move_booking", arguments)
        bookings[id]?.status = status
        if !status.isOpen { close(id) }
    }

    /// Forgets a booking: its place in the line, its chair, and its customer, who leaves soon.
    mutating func close(_ id: String) {
        guard let booking = bookings.removeValue(forKey: id) else { return }
        line.removeAll { $0 == id }
        for (barber, chair) in atWork where chair == id {
            atWork[barber] = .some(nil)
            if leaving.contains(barber) { endShift(barber) }
        }
        if !booking.isGuest {
            agenda.add(.departure(customer: booking.user), atMs: nowMs + minutes(chance(3...20)))
        }
    }

    // MARK: Presence

    /// A customer enters; `stayMinutes` is `nil` for one who stays until served.
    mutating func arrive(_ customer: String, stayMinutes: Int?) {
        guard present[customer] == nil else { return }
        checkIn(customer)
        if let stayMinutes { agenda.add(.departure(customer: customer), atMs: nowMs + minutes(stayMinutes)) }
    }

    mutating func checkIn(_ customer: String) {
        present[customer] = nowMs
        call("check_in", ["userId": customer])
    }

    private mutating func depart(_ customer: String) {
        guard present[customer] != nil, !bookings.values.contains(where: { $0.user == customer }) else { return }
        present[customer] = nil
        call("check_out", ["userId": customer])
    }

    private mutating func renew() {
        agenda.add(.renewal, atMs: nowMs + 5_000)
        for (customer, sinceMs) in present.sorted(by: { $0.key < $1.key }) where nowMs - sinceMs >= Self.renewedAfterMs
        {
            checkIn(customer)
        }
    }

    // MARK: Recurring happenings

    private mutating func recur(_ happening: Happening) {
        let isDay = DemoClock.isDay(nowMs)
        let pauseMs: Int
        switch happening {
        case .track:
            pauseMs = chance(9_000...20_000)
            if isDay && tracks.count < Self.tracksMax { addTrack() }
        case .vote:
            pauseMs = chance(1_200...3_200)
            if isDay { vote() }
        case .nextTrack:
            pauseMs = 40_000
            if isDay {
                call("next_track", [:])
                if !tracks.isEmpty { tracks.removeFirst() }
            }
        case .post:
            pauseMs = chance(50_000...90_000)
            if isDay { post() }
        default:
            pauseMs = 2_000
            decided.append(DemoStep(atMs: nowMs, action: .clock(DemoClock.reading(nowMs))))
        }
        agenda.add(happening, atMs: nowMs + pauseMs)
    }

    mutating func addTrack() {
        guard let customer = present.keys.sorted().randomElement(using: &random) else { return }
        let track = DemoCast.tracks[tracksAdded % DemoCast.tracks.count]
        tracksAdded += 1
        let id = "d-\(run)-\(tracksAdded)"
        tracks.append(id)
        call(
            "add_track",
            ["trackId": id, "trackName": track.name, "artistName": track.artist, "userId": customer])
    }

    mutating func vote() {
        guard let customer = present.keys.sorted().randomElement(using: &random),
            let track = tracks.randomElement(using: &random)
        else { return }
        call("vote", ["trackId": track, "vote": chance(1...10) <= 7 ? "up" : "down", "userId": customer])
    }

    private mutating func post() {
        // Every other post is by the barber whom guests can follow on the page.
        let others = atWork.keys.sorted()
        guard let first = DemoCast.barbers.first, let other = others.randomElement(using: &random) else { return }
        let barber = postsMade % 2 == 0 && atWork[first] != nil ? first : other
        let text = DemoCast.posts[postsMade % DemoCast.posts.count]
        postsMade += 1
        call(
            "publish_post",
            ["barberId": barber, "post": "{\"id\":\"d-\(run)-\(postsMade)\",\"text\":\"\(text)\"}"])
    }

    mutating func points(_ user: String, _ count: Int) {
        call("add_points", ["challengeId": DemoCast.challenge, "userId": user, "points": "\(count)"])
    }

    // MARK: Small things

    /// Adds a call to the decided steps; the shop's own commands get its id.
    mutating func call(_ command: String, _ arguments: [String: String]) {
        var arguments = arguments
        if command != "add_points" && command != "publish_post" { arguments["shopId"] = DemoCast.shop }
        decided.append(DemoStep(atMs: nowMs, action: .call(DemoCall(command: command, arguments: arguments))))
    }

    mutating func chance(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func minutes(_ count: Int) -> Int { count * DemoClock.minuteMs }
}
