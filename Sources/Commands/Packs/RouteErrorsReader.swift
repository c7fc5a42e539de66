import Core

/// Reads `errors` of a `pack.json`: the forms of refusals, by the prefix of their routes.
struct RouteErrorsReader {
    private(set) var errors: [RouteErrors] = []
    private(set) var problems: [ScriptProblem] = []

    /// The value that is being read; a problem is reported on its line.
    private var reading: JSON.Value?
    private let path: String
    private let reserved: [[String]]

    /// The most prefixes of one pack.
    static let prefixesMax = 16
    private static let fields = ["routes", "body", "statuses", "bodies", "sentences", "unknown", "cache"]
    private static let limits = JSON.Limits(depthMax: 16, elementsMax: 10_000)

    /// Reads the text of a pack's file; `path` is its name in messages, `reserved` are the gateway's own paths.
    init(_ bytes: [UInt8], path: String, reserved: [String]) {
        self.path = path
        self.reserved = reserved.map { path in path.split(separator: "/").map { String($0) } }
        read(bytes)
    }

    private mutating func read(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, limits: RouteErrorsReader.limits), json.root.kind == .object else {
            return problem("a pack is described by a JSON object")
        }
        guard let list = json.root["errors"] else { return }
        reading = list
        guard list.kind == .array else { return problem("errors: expected an array of objects") }
        for (index, value) in list.members.enumerated() { read(value, "errors[\(index)]") }
        if errors.count > RouteErrorsReader.prefixesMax {
            problem("errors: a pack may have \(RouteErrorsReader.prefixesMax) prefixes")
        }
    }

    private mutating func problem(_ message: String) {
        problems.append(ScriptProblem(file: path, line: reading?.line ?? 1, message: message))
    }

    private mutating func read(_ value: JSON.Value, _ place: String) {
        reading = value
        guard value.kind == .object else { return problem(place + ": expected an object") }
        for member in value.members where !RouteErrorsReader.fields.contains(member.name) {
            reading = member
            problem(place + ": unknown key" + NearestName.hint(RouteErrorsReader.fields, to: member.name))
        }
        reading = value["routes"] ?? value
        guard let segments = segments(value["routes"], place) else { return }
        reading = value["body"] ?? value
        guard let given = value["body"], given.kind == .object else {
            return problem(place + ".body: expected an object such as {\"error\": \"$message\"}")
        }
        guard let body = shape(given, place + ".body") else { return }
        errors.append(
            RouteErrors(
                segments: segments, statuses: statuses(value["statuses"], place + ".statuses"), body: body,
                bodies: bodies(value["bodies"], place + ".bodies"),
                sentences: sentences(value["sentences"], place + ".sentences"),
                ignoresUnknown: says("ignore", value["unknown"], place + ".unknown"),
                answersAreCached: says("private", value["cache"], place + ".cache")))
    }

    /// Whether a member is given, with its one word.
    private mutating func says(_ word: String, _ value: JSON.Value?, _ place: String) -> Bool {
        guard let value else { return false }
        reading = value
        if value.string != word { problem(place + ": expected \"\(word)\", or leave it out") }
        return true
    }

    private mutating func sentences(_ value: JSON.Value?, _ place: String) -> RouteErrors.Sentences {
        var sentences = RouteErrors.Sentences()
        guard let value else { return sentences }
        reading = value
        guard value.kind == .object else {
            problem(place + ": expected an object such as {\"rate_limited\": \"Please wait a moment.\"}")
            return sentences
        }
        for member in value.members {
            reading = member
            let field = place + "." + PrintableText.clean(member.name)
            if member.name == "arguments" {
                guard member.kind == .object else {
                    problem(field + ": expected an object of sentences by argument")
                    continue
                }
                for argument in member.members {
                    reading = argument
                    let inner = field + "." + PrintableText.clean(argument.name)
                    sentences.byArgument[argument.name] = sentence(argument, inner)
                }
                continue
            }
            guard ErrorCode(rawValue: member.name) != nil else {
                let codes = ErrorCode.allCases.map(\.rawValue) + ["arguments"]
                problem(
                    field + ": no code of the gateway" + NearestName.hint(codes, to: member.name)
                        + "; a script says its own sentences")
                continue
            }
            sentences.byCode[member.name] = sentence(member, field)
        }
        return sentences
    }

    private mutating func sentence(_ value: JSON.Value, _ place: String) -> String? {
        guard let text = value.string, (1...400).contains(text.utf8.count) else {
            problem(place + ": expected a sentence of 1 to 400 bytes")
            return nil
        }
        return text
    }

    private mutating func segments(_ value: JSON.Value?, _ place: String) -> [String]? {
        let text = value?.string ?? ""
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        let isPlain = parts.dropFirst().dropLast().allSatisfy { part in
            !part.isEmpty
                && part.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._~-".utf8.contains($0) }
        }
        guard parts.count >= 3, parts.first == "", parts.last == "", isPlain else {
            problem(place + ".routes: expected the beginning of paths, between slashes, e.g. /api/v1/")
            return nil
        }
        let segments = Array(parts.dropFirst().dropLast())
        if let own = reserved.first(where: { !$0.isEmpty && ($0.starts(with: segments) || segments.starts(with: $0)) })
        {
            problem(place + ".routes: the gateway's own /" + own.joined(separator: "/") + " is among these")
            return nil
        }
        if errors.contains(where: { $0.segments == segments }) {
            problem(place + ".routes: \(text) is given twice")
            return nil
        }
        return segments
    }

    private mutating func shape(_ value: JSON.Value, _ place: String) -> ErrorShape? {
        do throws(ErrorShape.UnknownWord) {
            return try ErrorShape(value)
        } catch {
            let words = ErrorShape.Word.allCases.map(\.rawValue)
            problem(
                place + ": $" + PrintableText.clean(error.word) + " stands for nothing; there are "
                    + words.map { "$" + $0 }.joined(separator: ", ")
                    + NearestName.hint(words, to: error.word, prefix: "$"))
            return nil
        }
    }

    private mutating func statuses(_ value: JSON.Value?, _ place: String) -> [ErrorCode: Int] {
        guard let value else { return [:] }
        reading = value
        guard value.kind == .object else {
            problem(place + ": expected an object such as {\"bad_request\": 422}")
            return [:]
        }
        var statuses: [ErrorCode: Int] = [:]
        for member in value.members {
            reading = member
            guard let code = ErrorCode(rawValue: member.name) else {
                let codes = ErrorCode.allCases.map(\.rawValue)
                problem(
                    place + "." + PrintableText.clean(member.name) + ": no code of the gateway"
                        + NearestName.hint(codes, to: member.name) + "; a script's own code has its status in @errors")
                continue
            }
            guard let status = member.int, (400...599).contains(status) else {
                problem(place + "." + code.rawValue + ": expected a status from 400 to 599")
                continue
            }
            statuses[code] = status
        }
        return statuses
    }

    private mutating func bodies(_ value: JSON.Value?, _ place: String) -> [String: ErrorShape] {
        guard let value else { return [:] }
        reading = value
        guard value.kind == .object else {
            problem(place + ": expected an object of bodies by code")
            return [:]
        }
        var bodies: [String: ErrorShape] = [:]
        for member in value.members {
            reading = member
            let field = place + "." + PrintableText.clean(member.name)
            guard HeaderText.isName(member.name, bytesMax: 32) else {
                problem(field + ": expected a code such as bad_request")
                continue
            }
            guard member.kind == .object else {
                problem(field + ": expected an object")
                continue
            }
            bodies[member.name] = shape(member, field)
        }
        return bodies
    }
}
