import Core
import TestSupport
import Testing

@testable import Demo

@Suite struct DemoDayTests {
    private static let weekMs = 7 * DemoClock.dayMs

    /// Lives a week in the model, told or not told what the shop looks like, and looks at each step.
    private func live(
        seed: UInt64, isReported: Bool, weeks: Int = 1,
        _ look: (inout DemoDay<Seeded>, inout ModelShop, DemoStep) -> Void = { _, _, _ in }
    ) -> ModelShop {
        var day = DemoDay(run: "r", random: Seeded(seed))
        var shop = ModelShop()
        var steps = 0
        while true {
            let step = day.next()
            guard step.atMs < weeks * DemoDayTests.weekMs else { return shop }
            steps += 1
            precondition(steps < 200_000, "the demo calls without end; seed \(seed)")
            if case .call(let call) = step.action {
                if !shop.take(call, nowMs: step.atMs) { day.refused(call) }
                if isReported { day.see(tracks: shop.queue.map(\.id)) }
            }
            look(&day, &shop, step)
        }
    }

    @Test(arguments: 1...20) func aWeekMakesLegalMovesOnly(seed: Int) {
        let shop = live(seed: UInt64(seed), isReported: true)
        #expect(shop.breaches == [], "seed \(seed)")
    }

    @Test(arguments: 1...5) func everythingHappensAndGoesOnHappening(seed: Int) {
        var lastCallMs: [String: Int] = [:]
        var longestMs: [String: Int] = [:]
        var previousMs = 0
        let shop = live(seed: UInt64(seed), isReported: true) { _, _, step in
            #expect(step.atMs >= previousMs, "time goes back; seed \(seed)")
            previousMs = step.atMs
            guard case .call(let call) = step.action else { return }
            let name = call.command == "move_booking" ? call.arguments["status"] ?? "" : call.command
            longestMs[name] = max(longestMs[name] ?? 0, step.atMs - (lastCallMs[name] ?? 0))
            lastCallMs[name] = step.atMs
        }
        for name in ["confirmed", "in-progress", "completed", "add_points"] {
            #expect(longestMs[name] ?? .max < 120_000, "\(name) pauses for \(longestMs[name] ?? -1) ms; seed \(seed)")
        }
        for name in ["add_track", "next_track", "vote", "check_in", "check_out", "publish_post"] {
            #expect(longestMs[name] ?? .max < 180_000, "\(name) pauses for \(longestMs[name] ?? -1) ms; seed \(seed)")
        }
        for name in ["cancelled", "no-show", "set_barber"] {
            #expect(lastCallMs[name] ?? 0 > DemoDayTests.weekMs / 2, "\(name) stops; seed \(seed)")
        }
        #expect(shop.counts["completed"] ?? 0 > 7 * 20, "seed \(seed)")
    }

    @Test func aGuestSeesATrackQueuedAtOnceAndAVoteWhereTheQueueIsFull() {
        var day = DemoDay(run: "r", random: Seeded(1))
        while day.nowMs < 60_000 { _ = day.next() }
        let others = day.decided.count
        day.see(tracks: ["a"])
        day.welcome()
        day.see(tracks: (1...8).map { "t\($0)" })
        day.welcome()
        var called: [String] = []
        for _ in 0..<others + 2 {
            if case .call(let call) = day.next().action { called.append(call.command) }
        }
        #expect(called.suffix(2) == ["add_track", "vote"])
        #expect(day.nowMs < 62_000)
    }

    @Test(arguments: [true, false], 1...5) func theShopStaysSmall(isReported: Bool, seed: Int) {
        _ = live(seed: UInt64(seed), isReported: isReported) { day, shop, step in
            #expect(shop.bookings.count <= 20, "seed \(seed) at \(step.atMs)")
            #expect(shop.bookings.values.count { $0.status == .confirmed } <= 12, "seed \(seed) at \(step.atMs)")
            #expect(shop.barbers.count <= 4)
            #expect(day.present.count <= DemoCast.customers.count)
            #expect(day.agenda.count < 150, "seed \(seed) at \(step.atMs)")
            if isReported { #expect(shop.queue.count <= 9, "seed \(seed) at \(step.atMs)") }
        }
    }

    @Test(arguments: 1...5) func whoIsPresentIsRenewedInTime(seed: Int) {
        _ = live(seed: UInt64(seed), isReported: true) { day, shop, step in
            for customer in day.present.keys where day.decided.isEmpty {
                #expect(shop.isPresent(customer, step.atMs), "\(customer) was forgotten at \(step.atMs); seed \(seed)")
            }
        }
    }

    @Test func nobodyIsLeftBehindAtNight() {
        var nights = 0
        _ = live(seed: 3, isReported: true) { _, shop, step in
            guard DemoClock.place(step.atMs).minute >= 1_400 else { return }
            nights += 1
            #expect(shop.bookings.isEmpty)
            #expect(shop.barbers.isEmpty)
        }
        #expect(nights >= 7)
    }

    @Test(arguments: 1...10) func aGuestsBookingIsServedWithinTheDayAndEarnsPoints(seed: Int) {
        var bookedMs: Int?
        var isReported = false
        let shop = live(seed: UInt64(seed), isReported: true) { day, shop, step in
            if bookedMs == nil && DemoClock.place(step.atMs).minute >= 12 * 60 {
                bookedMs = step.atMs
                shop.bookings["g1"] = ("guest-x", .pending, nil)
            }
            if bookedMs != nil && !isReported && day.decided.isEmpty {
                isReported = true
                day.see(booking: "g1", user: "guest-x", status: .pending)
            }
        }
        #expect(shop.closed.contains("g1"), "seed \(seed)")
        #expect(shop.points["guest-x"] ?? 0 > 0, "seed \(seed)")
        #expect(shop.breaches == [], "seed \(seed)")
    }

    @Test(arguments: 1...5) func aStoreThatLostEverythingIsFilledAgain(seed: Int) {
        var isLost = false
        var served = 0
        _ = live(seed: UInt64(seed), isReported: true) { day, shop, step in
            if !isLost && DemoClock.place(step.atMs).minute >= 13 * 60 && day.decided.isEmpty {
                isLost = true
                shop = ModelShop()
                day.resume()
            }
            guard isLost, step.atMs < DemoClock.dayMs else { return }
            served = shop.counts["completed"] ?? 0
        }
        #expect(served > 5, "seed \(seed)")
    }

    @Test func aForeignBookingThatDoesNotMoveIsForgotten() {
        var day = DemoDay(run: "r", random: Seeded(1))
        day.see(booking: "x", user: "u", status: .confirmed)
        #expect(day.line == ["x"])
        day.refused(DemoCall(command: "move_booking", arguments: ["bookingId": "x"]))
        #expect(day.bookings["x"] == nil && day.line == [])
        day.see(booking: "y", user: "u", status: .completed)
        #expect(day.bookings["y"] == nil)
    }

    @Test func theClockRunsThroughDaysAndNights() {
        #expect(DemoClock.reading(0) == DemoClock.Reading(day: "Monday", time: "08:30", isOpen: false))
        #expect(DemoClock.reading(15_000) == DemoClock.Reading(day: "Monday", time: "09:00", isOpen: true))
        let nightMs = DemoClock.dayMinutes.count * DemoClock.minuteMs
        #expect(DemoClock.reading(nightMs) == DemoClock.Reading(day: "Monday", time: "19:30", isOpen: false))
        #expect(DemoClock.reading(nightMs + 270 * 20).time == "00:00")
        #expect(DemoClock.reading(nightMs + 270 * 20).day == "Tuesday")
        #expect(DemoClock.reading(DemoClock.dayMs) == DemoClock.Reading(day: "Tuesday", time: "08:30", isOpen: false))
        for ms in stride(from: 0, to: nightMs, by: 777) {
            let (day, minute) = DemoClock.place(ms)
            #expect(ms - DemoClock.ms(day: day, minute: minute) < DemoClock.minuteMs)
        }
    }
}
