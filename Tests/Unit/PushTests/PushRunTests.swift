import Core
import TestSupport
import Testing

@testable import Push

/// The course of calls.
@Suite struct PushRunTests {
    private static let names = ["n:1795205000000-0", "n:1795205000000-1", "c:ann_bob"]

    private func request(_ count: Int) throws -> PushRequest {
        let pushes = PushRunTests.names.prefix(count).map { #"{"p":"\#($0)","s":7}"# }.joined(separator: ",")
        let text = #"{"user":"ann","pushes":[\#(pushes)]}"#
        let json = try JSON(parsing: Fixture.bytes(text), limits: JSON.Limits(depthMax: 8, elementsMax: 50))
        return try #require(PushRequest(json.root))
    }

    private func run(_ count: Int = 1, untilMs: Int = Fixture.nowMs + 30_000) throws -> PushRun {
        PushRun(try request(count), untilMs: untilMs)
    }

    private func answer(_ step: PushRun.Step?) -> String? {
        guard case .finish(let answer)? = step else { return nil }
        return String(decoding: answer, as: UTF8.self)
    }

    private func read(_ run: inout PushRun, _ facts: PushFacts) -> PushRun.Step {
        run.read(facts, zone: .utc, nowMs: Fixture.nowMs, jitter: 0)
    }

    @Test func oneAfterTheOtherToAllDevices() throws {
        var run = try run(2)
        let (phone, pad) = (try Fixture.device("phone"), try Fixture.device("pad", token: "b"))
        let facts = try Fixture.facts(phone, pad)
        for (index, name) in PushRunTests.names.prefix(2).enumerated() {
            if index == 0 {
                guard case .read(let item) = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil) else {
                    Issue.record("nothing is read")
                    return
                }
                #expect(item.name == Fixture.bytes(name))
            }
            guard case .send(let pushes) = read(&run, facts) else {
                Issue.record("nothing is sent")
                return
            }
            #expect(pushes.map(\.device) == [phone, pad] && pushes.allSatisfy { $0.collapseID == Fixture.bytes(name) })
            #expect(pushes[0].isUrgent && pushes[0].expirationSecond == (Fixture.nowMs + 86_400_000) / 1_000)
            #expect(run.answered(phone, .sent, nowMs: Fixture.nowMs) == nil)
            let step = run.answered(pad, .sent, nowMs: Fixture.nowMs)
            if index == 1 {
                #expect(
                    answer(step)
                        == #"{"results":[{"p":"\#(PushRunTests.names[0])","s":7},{"p":"\#(name)","s":7}],"dead":[]}"#)
            }
        }
    }

    @Test func whatFailedIsTriedAgainOnThoseDevicesOnly() throws {
        var run = try run()
        let (phone, pad) = (try Fixture.device("phone"), try Fixture.device("pad", token: "b"))
        _ = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        _ = read(&run, try Fixture.facts(phone, pad) { $0.past.tries = 1 })
        #expect(run.answered(phone, .again(afterMs: 7_000), nowMs: Fixture.nowMs) == nil)
        let step = run.answered(pad, .sent, nowMs: Fixture.nowMs)
        #expect(
            answer(step) == #"{"results":[{"p":"\#(PushRunTests.names[0])","s":7,"at":\#(Fixture.nowMs + 10_000),"#
                + #""tries":2,"done":["pad"]}],"dead":[]}"#)
        var next = try self.run()
        _ = next.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        let facts = try Fixture.facts(phone, pad) { $0.past = PushPast(stored: Fixture.bytes(#"{"n":2,"d":["pad"]}"#)) }
        guard case .send(let pushes) = read(&next, facts) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(pushes.map(\.device) == [phone])
    }

    /// What says nothing of the device keeps everything of the user in its turn.
    @Test(arguments: [nil, .away(afterMs: 7_000), .expired, .closed(forMs: 7_000, isFault: true)] as [APNsVerdict?])
    func nothingOvertakesWhatGotNoAnswer(_ verdict: APNsVerdict?) throws {
        var run = try run(2)
        let phone = try Fixture.device("phone")
        _ = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        _ = read(&run, try Fixture.facts(phone))
        let isLong = verdict != nil && verdict != .expired
        #expect(
            answer(run.answered(phone, verdict, nowMs: Fixture.nowMs))
                == #"{"results":[{"p":"\#(PushRunTests.names[0])","s":7,"at":8,"tries":1,"done":[]},"#
                + #"{"p":"\#(PushRunTests.names[1])","s":7,"at":8}],"dead":[],"#
                + #""rest":\#(Fixture.nowMs + (isLong ? 7_000 : 5_000))}"#)
    }

    @Test func aDeadDeviceIsToldAndDoesNotHoldUpTheOthers() throws {
        var run = try run()
        let (phone, pad) = (try Fixture.device("phone", at: 30), try Fixture.device("pad", token: "b", at: 40))
        _ = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        _ = read(&run, try Fixture.facts(phone, pad))
        _ = run.answered(phone, .dead(untilMs: 50), nowMs: Fixture.nowMs)
        let step = run.answered(pad, .misplaced, nowMs: Fixture.nowMs)
        #expect(
            answer(step)
                == #"{"results":[{"p":"\#(PushRunTests.names[0])","s":7}],"dead":[{"device":"phone","until":50},"#
                + #"{"device":"pad","until":40}]}"#)
    }

    @Test func whatIsReadMeanwhileIsNotSent() throws {
        var run = try run()
        _ = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        let step = read(&run, try Fixture.facts(try Fixture.device("phone")) { $0.isUnread = false })
        #expect(answer(step) == #"{"results":[{"p":"\#(PushRunTests.names[0])","s":7}],"dead":[]}"#)
        #expect(run.dropped == [.read: 1])
    }

    @Test func nothingIsBegunAfterItsTime() throws {
        var late = try run(3, untilMs: Fixture.nowMs)
        let rest = #""s":7,"at":8}"#
        #expect(answer(late.start(nowMs: Fixture.nowMs, closedUntilMs: nil))?.components(of: rest) == 3)
        var closed = try run(3)
        let until = Fixture.nowMs + 300_000
        let step = closed.start(nowMs: Fixture.nowMs, closedUntilMs: until)
        #expect(answer(step)?.components(of: rest) == 3 && answer(step)?.hasSuffix(#""rest":\#(until)}"#) == true)
        var broken = try run(3)
        _ = broken.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
        #expect(answer(broken.failed(nowMs: Fixture.nowMs))?.hasSuffix(#""rest":\#(Fixture.nowMs + 5_000)}"#) == true)
    }

    /// Whatever comes back, a call ends with each of its pushes named once and nothing sent twice to a device.
    @Test func everyCallEndsWithEveryPush() throws {
        var random = Seeded(7)
        for _ in 0..<Histories.count(500) {
            var run = try run(3)
            let devices = [try Fixture.device("a"), try Fixture.device("b", token: "b")]
            var step = run.start(nowMs: Fixture.nowMs, closedUntilMs: nil)
            var sent: [String: Int] = [:]
            var ended: String?
            for _ in 0..<20 where ended == nil {
                switch step {
                case .read:
                    let facts = try Fixture.facts {
                        $0.devices = devices
                        $0.isUnread = Bool.random(using: &random)
                        $0.past.done = Bool.random(using: &random) ? [Fixture.bytes("a")] : []
                    }
                    step = read(&run, facts)
                case .send(let pushes):
                    for push in pushes.shuffled(using: &random) {
                        sent[String(decoding: push.collapseID + push.device.id, as: UTF8.self), default: 0] += 1
                        let verdicts: [APNsVerdict?] = [
                            .sent, .again(afterMs: 1), .refused, .expired, nil, .dead(untilMs: 1),
                        ]
                        let next = run.answered(
                            push.device, verdicts.randomElement(using: &random) ?? nil, nowMs: Fixture.nowMs)
                        if let next { step = next }
                    }
                case .finish(let answer): ended = String(decoding: answer, as: UTF8.self)
                }
            }
            let text = try #require(ended)
            #expect(sent.values.allSatisfy { $0 == 1 })
            for name in PushRunTests.names { #expect(text.components(of: #""p":"\#(name)""#) == 1) }
        }
    }

    @Test(arguments: [
        "{}", #"{"user":"a b","pushes":[]}"#, #"{"user":"","pushes":[]}"#, #"{"user":"a"}"#,
        #"{"user":"a","pushes":{}}"#,
    ])
    func whatIsNoRequestIsNone(_ text: String) throws {
        let json = try JSON(parsing: Fixture.bytes(text), limits: JSON.Limits(depthMax: 8, elementsMax: 50))
        #expect(PushRequest(json.root) == nil)
    }

    @Test func pausesGrowAndEnd() {
        func pause(_ tries: Int, _ jitter: Double) -> Int {
            var past = PushPast()
            past.tries = tries
            return past.pauseMs(jitter: jitter)
        }
        #expect([0, 1, 2, 7, 99].map { pause($0, 0) } == [5_000, 10_000, 20_000, 600_000, 600_000])
        #expect(pause(3, 1) == 20_000 && pause(3, 9) == 20_000)
    }

    @Test(arguments: ["-1", "9223372036854775807"])
    func aTimeThatNoScriptWritesIsNone(score: String) throws {
        let text = #"{"user":"ann","pushes":[{"p":"n:1-0","s":\#(score)},{"p":"n:2-0","s":7}]}"#
        let json = try JSON(parsing: Fixture.bytes(text), limits: JSON.Limits(depthMax: 8, elementsMax: 50))
        #expect(PushRequest(json.root)?.items.map(\.name) == [Fixture.bytes("n:2-0")])
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of part: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
