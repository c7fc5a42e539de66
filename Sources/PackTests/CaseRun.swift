import Core
import Rights
import Worker

/// Plays one case.
///
/// Thread: the player's.
struct CaseRun {
    private let player: PackPlayer
    private let testCase: TestCase
    private let path: String
    private var names = BoundNames()
    /// Lines about what is doubtful, and fails nothing.
    private(set) var notes: [String] = []

    init(_ testCase: TestCase, of path: String, player: PackPlayer) {
        (self.testCase, self.path, self.player) = (testCase, path, player)
    }

    /// A fault of the step itself, in words; it has the step's line.
    private struct Fault: Error {
        let line: Int
        let text: String
    }

    /// Plays the steps up to the first one with another outcome; returns what to tell about it, empty for a success.
    mutating func play() -> [String] {
        var line = testCase.line
        do {
            try player.begin(atMs: testCase.startMs)
            for step in testCase.steps {
                line = step.value.line
                var comparison = try play(step)
                names = comparison.names
                let dead = try player.takeDead()
                checkDead(dead, step, &comparison)
                let faults = player.takeFaults()
                notes += player.takeNotes().map { "  \(place(line))  note: " + $0 }
                guard comparison.differences.isEmpty else {
                    return told(comparison.differences) + faults.map { "  a script failed: " + PrintableText.clean($0) }
                }
            }
            return []
        } catch let fault as Fault {
            return ["  \(place(fault.line))  " + fault.text]
        } catch let unknown as BoundNames.Unknown {
            return ["  \(place(line))  no earlier step has named $" + PrintableText.clean(unknown.name)]
        } catch {
            let faults = player.takeFaults().map { "  a script failed: " + PrintableText.clean($0) }
            return ["  \(place(line))  \(error)"] + faults
        }
    }

    private func place(_ line: Int) -> String { PrintableText.clean(path) + ":\(line)" }

    private func told(_ differences: [Difference]) -> [String] {
        differences.flatMap { difference in
            [
                "  \(place(difference.line))  " + PrintableText.clean(difference.place),
                "    expected  " + difference.expected, "    found     " + difference.found,
            ]
        }
    }

    // MARK: Steps

    private mutating func play(_ step: TestStep) throws -> Comparison {
        names.nowMs = player.nowMs
        let value: Result<[UInt8]?, Refusal>?
        switch step.kind {
        case .call: value = try call(step).map { $0 }
        case .join: value = try join(step)
        case .key: value = .success(try player.value(of: Array(try names.text(step.subject).utf8)))
        case .service: value = try answerCall(step)
        case .wait, .publish, .redis:
            try act(step)
            value = nil
        }
        names.nowMs = player.nowMs
        var comparison = Comparison(names)
        if let value { check(value, step, &comparison) }
        checkEvents(player.takeEvents(), step, &comparison)
        return comparison
    }

    private mutating func act(_ step: TestStep) throws {
        switch step.kind {
        case .wait: try player.pass(ms: TestStep.milliseconds(step.subject.string ?? "") ?? 0)
        case .publish:
            let topic = try topic(step.subject)
            guard let event = step["event"]?.stringBytes.flatMap({ EventName($0) }) else {
                throw Fault(line: step.value.line, text: "\"event\" is no name of an event")
            }
            let data = try step["data"].map { (data) throws in try names.filled(data) } ?? Array("{}".utf8)
            try player.publish(topic, event, data: data)
        case .redis:
            try player.write(
                try step.subject.members.map { (word) throws in Array(try names.text(word).utf8) })
        case .call, .join, .key, .service: break
        }
    }

    private func topic(_ value: JSON.Value) throws -> Topic {
        let text = try names.text(value)
        guard let topic = Topic(text) else {
            throw Fault(line: value.line, text: PrintableText.quoted(text) + " is no topic; one is \"shop:42\"")
        }
        return topic
    }

    private mutating func call(_ step: TestStep) throws -> Result<[UInt8], Refusal> {
        let name = try names.text(step.subject)
        let filled = try step["with"].map { (with) throws in try names.filled(with) }
        let arguments = try filled.map { (bytes) throws in try JSON(parsing: bytes, limits: TestFile.limits).root }
        let (text, line) = try callerText(step)
        if text == "worker" { return try player.callAsWorker(name, arguments: arguments) }
        var operation: MessageID?
        if let given = step["operation"] {
            operation = MessageID(Array(try names.text(given).utf8))
            guard operation != nil else {
                throw Fault(line: given.line, text: "\"operation\" must be 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
            }
        }
        return try player.call(
            name, arguments: arguments, as: try caller(text, line, step["name"]), operation: operation)
    }

    private mutating func join(_ step: TestStep) throws -> Result<[UInt8]?, Refusal> {
        let (text, line) = try callerText(step)
        return try player.join(try topic(step.subject), as: try caller(text, line, step["name"]))
    }

    /// Answers the oldest call of a service outside that waits; the result is the request.
    private mutating func answerCall(_ step: TestStep) throws -> Result<[UInt8]?, Refusal> {
        let service = try names.text(step.subject)
        guard let call = try player.takeCall(of: service) else {
            throw Fault(line: step.value.line, text: "no call of the service \(PrintableText.clean(service)) waits")
        }
        guard !call.command.isEmpty else { return .success(call.request) }
        var arguments = Array(call.arguments.dropLast())
        if arguments.count > 1 { arguments.append(UInt8(ascii: ",")) }
        let reply = try step["reply"].map { (reply) throws in try names.filled(reply) }
        if step["failed"] == nil {
            arguments.append(text: "\"outcome\":\"ok\",\"answer\":")
            arguments += reply ?? Array("{}".utf8)
        } else {
            arguments.append(text: "\"outcome\":\"failed\"")
        }
        arguments.append(UInt8(ascii: "}"))
        let json = try JSON(parsing: arguments, limits: TestFile.foundLimits)
        if case .failure(let refusal) = try player.callAsWorker(call.command, arguments: json.root) {
            throw Fault(
                line: step.value.line,
                text: "the answer's command \(call.command) was refused: \(refusal.name): \(refusal.message)")
        }
        return .success(call.request)
    }

    // MARK: Callers

    private func callerText(_ step: TestStep) throws -> (text: String, line: Int) {
        guard let value = step["as"] ?? testCase.caller else {
            throw Fault(line: step.value.line, text: "\"as\" is missing")
        }
        return (try names.text(value), value.line)
    }

    private func caller(_ text: String, _ line: Int, _ name: JSON.Value?) throws -> Caller {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let (role, id) = (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
        switch (role, id) {
        case ("anonymous", nil): return .anonymous
        case ("service", _): return .service(APIKeyHolder(id ?? "test", .everything))
        case ("user", let id?), ("guest", let id?):
            let shown = try name.map { (name) throws in Array(try names.text(name).utf8) }
            let identity = Identity(
                user: Array(id.utf8), role: .user, topics: [], expiresAt: Int.max / 2_000, isGuest: role == "guest",
                name: shown)
            if let identity { return .user(identity) }
        default: break
        }
        throw Fault(
            line: line,
            text: PrintableText.quoted(text)
                + " is no caller; one is \"user:ID\", \"guest:ID\", \"service\", \"anonymous\" or \"worker\"")
    }

    // MARK: Outcomes

    private func check(_ result: Result<[UInt8]?, Refusal>, _ step: TestStep, _ comparison: inout Comparison) {
        let place = [.call: "answer", .join: "state", .key: "value", .service: "request"][step.kind] ?? ""
        switch result {
        case .success(let found):
            if let error = step["error"] {
                comparison.note(error.line, "error", error.string ?? "", "the answer " + Shown.bytes(found ?? []))
            } else if let expected = step[place] {
                let label = step.kind == .key ? step.subject.string ?? place : place
                comparison.compare(expected, found ?? Array("null".utf8), at: label)
            }
        case .failure(let refusal):
            let found = refusal.name + ": " + refusal.message
            guard let error = step["error"] else {
                let expected = step[place].map { Shown.json($0) } ?? "no error"
                return comparison.note((step[place] ?? step.value).line, place, expected, "the error " + found)
            }
            if error.string != refusal.name { comparison.note(error.line, "error", error.string ?? "", found) }
            if let message = step["message"], message.string != refusal.message {
                comparison.note(message.line, "message", message.string ?? "", refusal.message)
            }
        }
    }

    private func checkEvents(_ found: [PackPlayer.Event], _ step: TestStep, _ comparison: inout Comparison) {
        if let list = step["events"] {
            let expected = Array(list.members)
            guard expected.count == found.count else {
                return comparison.note(
                    list.line, "events", CaseRun.label(expected), CaseRun.label(found))
            }
            for (index, event) in expected.enumerated() {
                compare(event, found[index], at: "events[\(index)]", &comparison)
            }
        } else if let list = step["eventsInclude"] {
            var rest = found
            for event in list.members {
                // The first event that fits, in their order: a later one stands behind it.
                let place = rest.firstIndex { candidate in
                    var attempt = Comparison(comparison.names)
                    compare(event, candidate, at: "", &attempt)
                    return attempt.differences.isEmpty
                }
                guard let place else {
                    comparison.note(
                        event.line, "eventsInclude", CaseRun.label([event]), CaseRun.label(rest))
                    return
                }
                compare(event, rest[place], at: "", &comparison)
                rest.removeFirst(place + 1)
            }
        }
    }

    private func compare(
        _ expected: JSON.Value, _ found: PackPlayer.Event, at place: String, _ comparison: inout Comparison
    ) {
        let (topic, name) = (CaseRun.quoted(found.topic.bytes), CaseRun.quoted(found.name.bytes))
        if let wanted = expected["topic"] { comparison.compare(wanted, topic, at: place + ".topic") }
        if let wanted = expected["event"] { comparison.compare(wanted, name, at: place + ".event") }
        if let wanted = expected["data"] { comparison.compare(wanted, found.data, at: place + ".data") }
    }

    private func checkDead(_ dead: [PackPlayer.Dead], _ step: TestStep, _ comparison: inout Comparison) {
        let expected = step["dead"]?.members.compactMap(\.string) ?? []
        let found = dead.map { String(decoding: $0.subject, as: UTF8.self) }
        guard expected != found else { return }
        let reasons = dead.map { Shown.bytes($0.subject) + " (" + PrintableText.clean($0.reason) + ")" }
        comparison.note(
            (step["dead"] ?? step.value).line, "what the worker gave up",
            expected.isEmpty ? "nothing" : expected.joined(separator: ", "),
            reasons.isEmpty ? "nothing" : reasons.joined(separator: ", "))
    }

    private static func quoted(_ text: [UInt8]) -> [UInt8] {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return json
    }

    private static func label(_ events: [PackPlayer.Event]) -> String {
        if events.isEmpty { return "no events" }
        return events.map { "\($0.topic) \(Shown.bytes($0.name.bytes)) \(Shown.bytes($0.data))" }
            .joined(separator: "\n              ")
    }

    private static func label(_ events: [JSON.Value]) -> String {
        if events.isEmpty { return "no events" }
        return events.map { event in
            [event["topic"], event["event"]].map { $0?.string ?? "" }.joined(separator: " ")
                + (event["data"].map { " " + Shown.json($0) } ?? "")
        }.joined(separator: "\n              ")
    }
}
