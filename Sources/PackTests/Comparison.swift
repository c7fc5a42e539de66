import Core

/// A place where something else was found than a file expects.
struct Difference: Equatable {
    /// The line of the expected value.
    let line: Int
    /// The place, such as `answer.queue[0].upvotes`.
    let place: String
    /// The expected value, and the one found; texts for a person.
    let expected: String
    let found: String
}

/// Compares values with those that a file expects, and gives names to values that it has not seen before.
///
/// An object may have more members than are expected; a list has exactly the expected ones. A member that is expected to
/// be `null` may be absent. Numbers are compared by their value.
struct Comparison {
    /// The names of the case.
    var names: BoundNames
    /// The differences found, in the order of the file.
    private(set) var differences: [Difference] = []

    /// The most differences of one step.
    private static let differencesMax = 20

    init(_ names: BoundNames) { self.names = names }

    /// Compares the JSON of a value with the expected one.
    mutating func compare(_ expected: JSON.Value, _ found: [UInt8], at place: String) {
        guard let json = try? JSON(parsing: found, limits: TestFile.foundLimits) else {
            return note(expected.line, place, Shown.json(expected), "a text that is no JSON: " + Shown.bytes(found))
        }
        compare(expected, json.root, at: place)
    }

    private mutating func compare(_ expected: JSON.Value, _ found: JSON.Value?, at place: String) {
        switch expected.kind {
        case .string: compareText(expected, found, at: place)
        case .object:
            guard let found, found.kind == .object else { return differ(expected, found, place) }
            for member in expected.members { compare(member, found[member.name], at: place + "." + member.name) }
        case .array:
            guard let found, found.kind == .array else { return differ(expected, found, place) }
            let (wanted, items) = (Array(expected.members), Array(found.members))
            guard wanted.count == items.count else { return differ(expected, found, place) }
            for (index, item) in wanted.enumerated() { compare(item, items[index], at: place + "[\(index)]") }
        case .number:
            if !Comparison.areEqual(expected, found) { differ(expected, found, place) }
        case .null:
            if let found, found.kind != .null { differ(expected, found, place) }
        case .yes, .no:
            if expected.kind != found?.kind { differ(expected, found, place) }
        }
    }

    private mutating func compareText(_ expected: JSON.Value, _ found: JSON.Value?, at place: String) {
        do throws(BoundNames.Unknown) {
            switch try names.meaning(expected.string ?? "") {
            case .any:
                if found == nil || found?.kind == .null { note(expected.line, place, "anything", Shown.json(found)) }
            case .unbound(let name):
                guard let found else { return note(expected.line, place, "a value for $" + name, "nothing") }
                names.bind(name, Array(found.raw))
            case .value(let json):
                let wanted = (try? JSON(parsing: json, limits: TestFile.foundLimits))?.root
                if let wanted, Comparison.isSame(wanted, found) { return }
                note(expected.line, place, Shown.bytes(json), Shown.json(found))
            }
        } catch {
            note(expected.line, place, Shown.json(expected), "no earlier step has named $" + error.name)
        }
    }

    private static func areEqual(_ one: JSON.Value, _ other: JSON.Value?) -> Bool {
        guard let other, other.kind == .number else { return false }
        if one.raw == other.raw { return true }
        guard let left = one.double, let right = other.double else { return false }
        return left == right
    }

    /// Whether two values are equal; a value that was named before is compared as a whole.
    private static func isSame(_ one: JSON.Value, _ other: JSON.Value?) -> Bool {
        switch one.kind {
        case .string: one.stringBytes == other?.stringBytes
        case .number: areEqual(one, other)
        case .object, .array: one.raw == other?.raw
        case .yes, .no, .null: one.kind == other?.kind
        }
    }

    private mutating func differ(_ expected: JSON.Value, _ found: JSON.Value?, _ place: String) {
        note(expected.line, place, Shown.json(expected), Shown.json(found))
    }

    /// Notes a difference in words.
    mutating func note(_ line: Int, _ place: String, _ expected: String, _ found: String) {
        guard differences.count < Comparison.differencesMax else { return }
        differences.append(Difference(line: line, place: place, expected: expected, found: found))
    }
}

/// Values as texts for a person: one line, bounded, without control characters.
enum Shown {
    private static let charactersMax = 400

    /// A value of a document; `nothing` for an absent one.
    static func json(_ value: JSON.Value?) -> String { value.map { bytes(Array($0.raw)) } ?? "nothing" }

    /// Any text.
    static func bytes(_ bytes: [UInt8]) -> String {
        var text = ""
        var isSpace = false
        for (count, scalar) in String(decoding: bytes, as: UTF8.self).unicodeScalars.enumerated() {
            if count == charactersMax { return text + "..." }
            let isBreak = scalar == "\n" || scalar == "\r" || scalar == "\t"
            if isBreak || scalar == " " {
                // The spaces that indent a file say nothing.
                if !isSpace { text += " " }
            } else {
                text += PrintableText.clean(String(Character(scalar)))
            }
            isSpace = isBreak || scalar == " " && isSpace
        }
        return text
    }
}
