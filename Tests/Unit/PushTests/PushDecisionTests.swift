import Core
import Testing

@testable import Push

/// What becomes of what waits, rule by rule.
@Suite struct PushDecisionTests {
    private func decide(
        nowMs: Int = Fixture.nowMs, zone: TimeZone = .utc, _ change: (inout PushFacts) throws -> Void
    ) throws -> PushDecision {
        PushDecision.of(try Fixture.facts(try Fixture.device("phone"), change: change), zone: zone, nowMs: nowMs)
    }

    @Test func whatIsUnreadIsSent() throws {
        #expect(try decide { _ in } == .send(silently: false))
    }

    @Test func whatIsOverIsDropped() throws {
        #expect(try decide { $0.isUnread = false } == .drop(.read))
        #expect(try decide { $0.content = nil } == .drop(.gone))
        #expect(try decide { $0.isUnwanted = true } == .drop(.off))
        #expect(try decide { $0.devices = [] } == .drop(.devices))
        #expect(try decide { $0.past.done = [Fixture.bytes("phone")] } == .drop(.devices))
        #expect(try decide { $0.rules = Fixture.rules(#"{"types":{"booking":"off"}}"#) } == .drop(.off))
        #expect(try decide { $0.rules = Fixture.rules(#"{"types":{"feed":"off"}}"#) } == .send(silently: false))
    }

    @Test func oneOfTwoDevicesThatHaveItIsLeft() throws {
        let facts = try Fixture.facts(try Fixture.device("a"), try Fixture.device("b")) {
            $0.past.done = [Fixture.bytes("a")]
        }
        #expect(PushDecision.of(facts, zone: .utc, nowMs: Fixture.nowMs) == .send(silently: false))
    }

    @Test(arguments: [(0, 45_000), (44_999, 1), (45_000, nil), (-5_000, 45_000)] as [(Int, Int?)])
    func whoIsConnectedGetsNothing(_ agoMs: Int, _ restMs: Int?) throws {
        let decision = try decide { $0.seenMs = Fixture.nowMs - agoMs }
        #expect(decision == (restMs.map { .wait(untilMs: Fixture.nowMs + $0) } ?? .send(silently: false)))
    }

    @Test func quietHoursHoldOrSilence() throws {
        // 2026-11-20T20:03:20Z: 21:03 in Berlin.
        let zone = try TimeZoneTests.zone("CET-1CEST,M3.5.0,M10.5.0/3")
        func rules(_ mode: String, _ types: String = "{}", to: Int = 420) -> PushRules {
            Fixture.rules(#"{"types":\#(types),"from":1230,"to":\#(to),"mode":"\#(mode)"}"#)
        }
        let midnight = Fixture.nowMs - Fixture.nowMs % 86_400_000
        #expect(
            try decide(zone: zone) { $0.rules = rules("hold") } == .wait(untilMs: midnight + 86_400_000 + 6 * 3_600_000)
        )
        #expect(try decide(zone: zone) { $0.rules = rules("silent") } == .send(silently: true))
        #expect(try decide(zone: zone) { $0.rules = rules("hold", #"{"booking":"urgent"}"#) } == .send(silently: false))
        #expect(try decide(zone: .utc) { $0.rules = rules("hold") } == .send(silently: false), "20:03 there")
        #expect(try decide(zone: zone) { $0.rules = rules("hold", to: 1_230) } == .send(silently: false))
    }

    @Test func theZoneIsThatOfTheRulesOrOfTheLastDevice() throws {
        let devices = [
            try Fixture.device("a", zone: "Asia/Tokyo", at: 5), try Fixture.device("b", zone: "Europe/Rome", at: 9),
            try Fixture.device("c", at: 12),
        ]
        var facts = try Fixture.facts { $0.devices = devices }
        #expect(facts.zone == Fixture.bytes("Europe/Rome"))
        facts.rules = Fixture.rules(#"{"z":"America/Lima"}"#)
        #expect(facts.zone == Fixture.bytes("America/Lima"))
        facts.rules = Fixture.rules(#"{"z":"../x"}"#)
        #expect(facts.zone == Fixture.bytes("Europe/Rome"))
        facts.devices = []
        #expect(facts.zone == nil)
    }

    @Test func whatIsADayOldIsNewsOnlyIfItWaitedForTheMorning() throws {
        let day = PushDecision.lifeMs
        #expect(try decide(nowMs: Fixture.nowMs + day + 1) { _ in } == .send(silently: false))
        #expect(try decide(nowMs: Fixture.nowMs + day + 1) { $0.past.tries = 1 } == .drop(.old))
        #expect(try decide(nowMs: Fixture.nowMs + 2 * day) { _ in } == .drop(.old))
    }

    @Test(arguments: ["", "{", "[]", "7", #"{"types":[1],"from":"x"}"#, #"{"types":{"a":7},"from":-1,"to":5}"#])
    func rulesThatNobodyOfOursWroteAreNone(_ text: String) {
        #expect(Fixture.rules(text) == PushRules())
    }

    @Test(arguments: [
        "", "{}", #"{"k":"zz","p":"ios","e":"production","r":1}"#, #"{"k":"aa","p":"ios","e":"moon","r":1}"#,
        #"{"k":"aa","p":"ios","e":"sandbox","r":-1}"#, #"{"k":"","p":"ios","e":"sandbox","r":1}"#,
    ])
    func devicesThatNobodyOfOursWroteAreNone(_ text: String) {
        #expect(PushDevice(id: Fixture.bytes("x"), stored: Fixture.bytes(text)) == nil)
    }
}
