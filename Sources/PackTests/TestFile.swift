public import Commands
import Core

/// One case of a file: steps that are played in their order, in a Redis that is empty at their beginning.
public struct TestCase: Sendable {
    /// The name that the author gave it.
    public let name: String
    /// The line on which it begins.
    public let line: Int
    /// The caller of steps that name none; `nil`: they must name one.
    let caller: JSON.Value?
    /// The time at its beginning, milliseconds since 1970.
    let startMs: Int
    /// The steps, those of the file's `before` first.
    let steps: [TestStep]
}

/// A file of cases, read and checked.
public struct TestFile: Sendable {
    /// The path, as messages name it.
    public let path: String
    /// The cases, in their order.
    public private(set) var cases: [TestCase] = []
    /// The mistakes in the file, with their lines; a file with one is not played.
    public private(set) var problems: [ScriptProblem] = []

    /// The most bytes of a file.
    public static let bytesMax = 1 << 20
    /// The most cases of a file, and the most steps of a case.
    static let casesMax = 1_000
    static let limits = JSON.Limits(depthMax: 32, elementsMax: 100_000)
    /// The limits of values that scripts and keys have.
    static let foundLimits = JSON.Limits(depthMax: 64, elementsMax: 1_000_000)
    /// The time at which a case begins unless it says another: 2030-01-01T00:00:00Z.
    static let startMs = 1_893_456_000_000

    private static let members = ["about", "as", "now", "before", "cases"]
    private static let caseMembers = ["about", "name", "as", "now", "steps"]

    /// Reads a file's text.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        let document: JSON
        do {
            document = try JSON(parsing: bytes, limits: TestFile.limits)
        } catch {
            problem(JSON.faultLine(in: bytes, limits: TestFile.limits), error.rawValue)
            return
        }
        read(document.root)
    }

    private mutating func problem(_ line: Int, _ message: String) {
        problems.append(ScriptProblem(file: path, line: line, message: message))
    }

    private mutating func read(_ root: JSON.Value) {
        guard root.kind == .object else { return problem(1, "expected an object with the member \"cases\"") }
        checkNames(root, TestFile.members, "a file of tests")
        let caller = caller(root["as"])
        let startMs = time(root["now"]) ?? TestFile.startMs
        let before = steps(root["before"], caller: caller, "before")
        guard let cases = root["cases"], cases.kind == .array else {
            return problem((root["cases"] ?? root).line, "\"cases\" must be a list of cases")
        }
        var names: Set<String> = []
        for value in cases.members {
            guard self.cases.count < TestFile.casesMax else {
                return problem(value.line, "more than \(TestFile.casesMax) cases in one file")
            }
            guard value.kind == .object else {
                problem(value.line, "a case must be an object with \"name\" and \"steps\"")
                continue
            }
            checkNames(value, TestFile.caseMembers, "a case")
            guard let name = value["name"]?.string, !name.isEmpty, !PrintableText.hasControl(name) else {
                problem(value.line, "a case needs a \"name\"")
                continue
            }
            if !names.insert(name).inserted {
                problem(value.line, "two cases have the name " + PrintableText.quoted(name))
            }
            let own = self.caller(value["as"]) ?? caller
            if value["steps"] == nil { problem(value.line, "a case needs \"steps\"") }
            self.cases.append(
                TestCase(
                    name: name, line: value.line, caller: own, startMs: time(value["now"]) ?? startMs,
                    steps: before + steps(value["steps"], caller: own, "steps")))
        }
    }

    private mutating func checkNames(_ value: JSON.Value, _ names: [String], _ what: String) {
        for member in value.members where !names.contains(member.name) {
            problem(
                member.line,
                PrintableText.quoted(member.name) + " is no member of \(what)"
                    + NearestName.hint(names, to: member.name))
        }
    }

    private mutating func caller(_ value: JSON.Value?) -> JSON.Value? {
        guard let value else { return nil }
        if value.string == nil { problem(value.line, "\"as\" must be a text such as \"user:ann\" or \"service\"") }
        return value
    }

    private mutating func time(_ value: JSON.Value?) -> Int? {
        guard let value else { return nil }
        guard let ms = value.stringBytes.flatMap({ Timestamp.milliseconds($0) }), ms > 0 else {
            problem(value.line, "\"now\" must be a time such as \"2030-01-01T09:30:00Z\"")
            return nil
        }
        return ms
    }

    // MARK: Steps

    private mutating func steps(_ list: JSON.Value?, caller: JSON.Value?, _ name: String) -> [TestStep] {
        guard let list else { return [] }
        guard list.kind == .array else {
            problem(list.line, "\"\(name)\" must be a list of steps")
            return []
        }
        var steps: [TestStep] = []
        for value in list.members {
            guard steps.count < TestFile.casesMax else {
                problem(value.line, "more than \(TestFile.casesMax) steps in one case")
                return steps
            }
            if let step = step(value, caller: caller) { steps.append(step) }
        }
        return steps
    }

    private mutating func step(_ value: JSON.Value, caller: JSON.Value?) -> TestStep? {
        let words = TestStep.Kind.allCases.map(\.rawValue)
        guard value.kind == .object else {
            problem(value.line, "a step must be an object with one of " + words.joined(separator: ", "))
            return nil
        }
        // A key's value and an event may be named like a kind of step; what a kind needs is no kind.
        let kinds = TestStep.Kind.allCases.filter { value[$0.rawValue] != nil }
        guard kinds.count == 1, let kind = kinds.first else {
            let names = value.members.map(\.name)
            let near = names.compactMap { NearestName.among(words, to: $0) }.first
            let hint = near.map { "; did you mean \($0)?" } ?? ""
            problem(value.line, "a step has exactly one of " + words.joined(separator: ", ") + hint)
            return nil
        }
        checkNames(value, [kind.rawValue] + kind.members + TestStep.common, "a step \"\(kind.rawValue)\"")
        for name in kind.needed where value[name] == nil {
            problem(value.line, "a step \"\(kind.rawValue)\" needs \"\(name)\"")
        }
        let step = TestStep(value: value, kind: kind)
        checkSubject(step)
        if kind == .call || kind == .join, self.caller(value["as"]) ?? caller == nil {
            problem(value.line, "\"as\" is missing: it says who does this, such as \"user:ann\" or \"service\"")
        }
        checkMembers(step)
        return step
    }

    private mutating func checkSubject(_ step: TestStep) {
        let subject = step.subject
        switch step.kind {
        case .wait:
            if subject.string.flatMap({ TestStep.milliseconds($0) }) == nil {
                problem(subject.line, "\"wait\" must be a time such as \"250ms\", \"90s\", \"15m\", \"1h\" or \"7d\"")
            }
        case .redis:
            let isCall =
                subject.kind == .array && subject.members.contains { _ in true }
                && subject.members.allSatisfy { $0.kind == .string || $0.kind == .number }
            if !isCall { problem(subject.line, "\"redis\" must be a list of words, such as [\"SET\", \"a:1#b\", 5]") }
        case .call, .join, .key, .publish, .service:
            if subject.string?.isEmpty != false {
                problem(subject.line, "\"\(step.kind.rawValue)\" must be a text")
            }
        }
    }

    private mutating func checkMembers(_ step: TestStep) {
        for name in ["about", "as", "name", "operation", "error", "message", "event"] {
            guard let value = step[name], value.kind != .string else { continue }
            problem(value.line, "\"\(name)\" must be a text")
        }
        for name in ["with", "answer", "data", "reply", "request"] {
            guard let value = step[name], value.kind != .object else { continue }
            problem(value.line, "\"\(name)\" must be an object")
        }
        if let value = step["failed"], value.bool != true { problem(value.line, "\"failed\" must be true") }
        for (one, other) in [("answer", "error"), ("state", "error"), ("reply", "failed"), ("events", "eventsInclude")]
        {
            guard let value = step[one], step[other] != nil else { continue }
            problem(value.line, "a step has \"\(one)\" or \"\(other)\", not both")
        }
        if let value = step["message"], step["error"] == nil {
            problem(value.line, "\"message\" is the sentence of an \"error\"")
        }
        for name in ["events", "eventsInclude"] {
            guard let list = step[name] else { continue }
            guard list.kind == .array else {
                problem(list.line, "\"\(name)\" must be a list of events")
                continue
            }
            for event in list.members { checkEvent(event) }
        }
        if let list = step["dead"], list.kind != .array || !list.members.allSatisfy({ $0.kind == .string }) {
            problem(list.line, "\"dead\" must be a list of the commands and topics that were given up")
        }
    }

    private mutating func checkEvent(_ event: JSON.Value) {
        let names = ["topic", "event", "data"]
        guard event.kind == .object, event["topic"]?.string != nil, event["event"]?.string != nil,
            event["data"].map({ $0.kind == .object }) ?? true
        else { return problem(event.line, "an event is {\"topic\": \"...\", \"event\": \"...\", \"data\": {...}}") }
        checkNames(event, names, "an event")
    }
}
