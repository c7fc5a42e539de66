import Core

/// The JSON texts of `api/`, in which names stand for what the configuration and the scripts decide.
///
/// `{"$value": "NAME"}` is the value or the part of that name, and `${NAME}` in a text is a number. `"$json": SCHEMA` is
/// the `content` of a body of JSON. `"$errors": [STATUS, ...]` among responses are the shared ones of these statuses and
/// of all that any request may receive; the object's own responses replace them. Nothing else begins with `$` but `$ref`.
struct OpenAPITemplate {
    /// The reason why a text was refused; it names the line.
    struct Problem: Error, Equatable { let text: String }

    typealias Members = [(name: String, value: JSONNode)]

    private var values: [String: JSONNode]

    /// `parts` are further values; each may use those before it.
    init(_ values: [String: JSONNode], parts: [UInt8] = []) throws(Problem) {
        self.values = values
        guard !parts.isEmpty else { return }
        for part in try parsed(parts).members {
            guard self.values.updateValue(try node(part), forKey: part.name) == nil else {
                throw problem(part, "\(part.name) is a value of the gateway's own")
            }
        }
    }

    /// The members of the object that the text is, in their order.
    func members(of text: [UInt8]) throws(Problem) -> Members {
        try parsed(text).members.map { member throws(Problem) in (member.name, try node(member)) }
    }

    /// A result of embedded texts, all of which the tests read.
    static func embedded<Result>(_ read: () throws(Problem) -> Result) -> Result {
        do { return try read() } catch { preconditionFailure("api/: \(error.text)") }
    }

    private func parsed(_ text: [UInt8]) throws(Problem) -> JSON.Value {
        let limits = JSON.Limits(depthMax: 64, elementsMax: 100_000)
        do { return try JSON(parsing: text, limits: limits).root } catch {
            throw Problem(text: "line \(JSON.faultLine(in: text, limits: limits)): \(error.rawValue)")
        }
    }

    private func problem(_ place: JSON.Value, _ text: String) -> Problem {
        Problem(text: "line \(place.line): \(text)")
    }

    private func node(_ value: JSON.Value) throws(Problem) -> JSONNode {
        switch value.kind {
        case .object: return try object(value)
        case .array: return .array(try value.members.map(node))
        case .string: return .text(value.raw.contains(UInt8(ascii: "$")) ? try text(value) : value.string ?? "")
        case .number, .yes, .no, .null: return .raw(Array(value.raw))
        }
    }

    private func object(_ object: JSON.Value) throws(Problem) -> JSONNode {
        var members: Members = []
        for member in object.members {
            switch member.name {
            case "$value":
                guard Array(object.members).count == 1 else { throw problem(member, "$value has no neighbours") }
                return try self.value(member.string ?? "", member)
            case "$json": members.append(("content", OpenAPIErrors.content(try node(member))))
            case "$errors": members += try errors(member, beside: Set(object.members.map(\.name)))
            case let name where name.hasPrefix("$") && name != "$ref": throw problem(member, "\(name) has no meaning")
            case let name: members.append((name, try node(member)))
            }
        }
        return .object(members)
    }

    private func value(_ name: String, _ place: JSON.Value) throws(Problem) -> JSONNode {
        guard let value = values[name] else { throw problem(place, "there is no value \(name)") }
        return value
    }

    /// A text, with the digits of the numbers that it names.
    private func text(_ value: JSON.Value) throws(Problem) -> String {
        let pieces = (value.string ?? "").split(separator: "${", omittingEmptySubsequences: false)
        var text = String(pieces[0])
        for piece in pieces.dropFirst() {
            let name = String(piece.prefix { $0 != "}" })
            guard piece.count > name.count else { throw problem(value, "${\(name) has no end") }
            guard case .int(let number) = try self.value(name, value) else {
                throw problem(value, "${\(name)} is no number")
            }
            text += "\(number)" + piece.dropFirst(name.count + 1)
        }
        return text
    }

    /// The shared responses of some statuses, without those that the object has itself.
    private func errors(_ list: JSON.Value, beside own: Set<String>) throws(Problem) -> Members {
        let statuses = list.members.compactMap(\.int)
        guard list.kind == .array, statuses.count == Array(list.members).count else {
            throw problem(list, "$errors is a list of statuses")
        }
        return Set(statuses + OpenAPIErrors.everywhere).sorted().filter { !own.contains("\($0)") }
            .map { ("\($0)", OpenAPIErrors.reference($0)) }
    }
}
