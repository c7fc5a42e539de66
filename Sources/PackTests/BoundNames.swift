import Core

/// The values that a case has named, such as the id of a booking that a script has made.
///
/// A text `"$id"` where something is expected gives the value that is found there the name `id`. From then on `"$id"`
/// is that value, and `${id}` in a longer text is its text. `"$any"` is any value. `"$now"` and `"$nowMs"` are the time
/// of the step, as text and as milliseconds; `"$now+90s"` and `"$nowMs-1h"` are other times. `$$` is one `$`.
struct BoundNames {
    /// A text of a file, read.
    enum Meaning: Equatable {
        /// The JSON of this value.
        case value([UInt8])
        /// A name that has no value yet.
        case unbound(String)
        /// Any value.
        case any
    }

    /// A name in a text that has no value.
    struct Unknown: Error, Equatable {
        let name: String
    }

    /// The JSON of the values by name.
    private var values: [String: [UInt8]] = [:]
    /// Now, milliseconds since 1970.
    var nowMs = 0

    /// Gives a name its value.
    mutating func bind(_ name: String, _ json: [UInt8]) { values[name] = json }

    /// The meaning of an expected text.
    func meaning(_ text: String) throws(Unknown) -> Meaning {
        if text == "$any" { return .any }
        guard let name = BoundNames.name(text) else { return .value(BoundNames.quoted(try filled(text))) }
        if let time = time(name) { return .value(time) }
        guard BoundNames.isName(name) else { return .value(BoundNames.quoted(try filled(text))) }
        return values[name].map { .value($0) } ?? .unbound(name)
    }

    /// A text with the values of its names.
    func filled(_ text: String) throws(Unknown) -> String {
        var (result, rest) = ("", Substring(text))
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            let after = rest.index(after: dollar)
            rest = rest[after...]
            if rest.first == "$" {
                result += "$"
                rest = rest.dropFirst()
            } else if rest.first == "{", let end = rest.firstIndex(of: "}") {
                let name = String(rest[rest.index(after: rest.startIndex)..<end])
                guard let value = time(name) ?? values[name] else { throw Unknown(name: name) }
                result += BoundNames.plain(value)
                rest = rest[rest.index(after: end)...]
            } else {
                result += "$"
            }
        }
        return result + rest
    }

    /// The text of a value of the file, with the values of its names.
    func text(_ value: JSON.Value) throws(Unknown) -> String { BoundNames.plain(try filled(value)) }

    /// The JSON of a value of the file, with the values of its names.
    func filled(_ value: JSON.Value) throws(Unknown) -> [UInt8] {
        var json: [UInt8] = []
        switch value.kind {
        case .object, .array:
            let isObject = value.kind == .object
            json.append(UInt8(ascii: isObject ? "{" : "["))
            for (index, member) in value.members.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                if isObject {
                    json.append(jsonString: member.nameBytes)
                    json.append(UInt8(ascii: ":"))
                }
                json += try filled(member)
            }
            json.append(UInt8(ascii: isObject ? "}" : "]"))
        case .string:
            switch try meaning(value.string ?? "") {
            case .value(let text): json += text
            case .unbound(let name): throw Unknown(name: name)
            case .any: throw Unknown(name: "any")
            }
        case .number, .yes, .no, .null: json += value.raw
        }
        return json
    }

    /// The rest of a text that is one name: `id` of `$id`.
    private static func name(_ text: String) -> String? {
        guard text.hasPrefix("$"), !text.hasPrefix("$$"), !text.hasPrefix("${") else { return nil }
        return String(text.dropFirst())
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, ASCII.isLetter(first), bytes.count <= 64 else { return false }
        return bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// The JSON of `now`, `nowMs` and times at a distance from them; `nil` for another name.
    private func time(_ name: String) -> [UInt8]? {
        let isNumber = name.hasPrefix("nowMs")
        guard isNumber || name.hasPrefix("now") else { return nil }
        let rest = name.dropFirst(isNumber ? 5 : 3)
        var ms = nowMs
        if !rest.isEmpty {
            guard rest.first == "+" || rest.first == "-", let span = TestStep.milliseconds(String(rest.dropFirst()))
            else { return nil }
            ms += rest.first == "+" ? span : -span
        }
        guard Timestamp.range.contains(ms) else { return nil }
        return isNumber ? Array(String(ms).utf8) : BoundNames.quoted(Timestamp.text(wallMs: ms))
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return json
    }

    /// The text of a value inside a longer text: a string without its quotes, anything else as JSON.
    private static func plain(_ json: [UInt8]) -> String {
        (try? JSON(parsing: json, limits: TestFile.limits))?.root.string ?? String(decoding: json, as: UTF8.self)
    }
}
