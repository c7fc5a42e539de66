import Core

/// A JSON text with places for the parts of a refusal, as a pack's `pack.json` declares it.
///
/// Words that begin with `$` stand for a refusal's parts. A member whose whole text is `"$status"` or `"$retry"`
/// becomes the number.
indirect enum ErrorShape: Equatable, Sendable {
    /// A part of a refusal.
    enum Word: String, CaseIterable, Sendable {
        /// The sentence.
        case message
        /// The code, such as `not_found`.
        case code
        /// The HTTP status.
        case status
        /// The name of this request.
        case request
        /// The seconds after which to try again; `null`, or nothing within a text, when they are not known.
        case retry
    }

    /// A piece of a text.
    enum Piece: Equatable, Sendable {
        case text(String)
        case word(Word)
    }

    /// JSON that is copied as it was written.
    case literal([UInt8])
    /// A number from the refusal: its status or its retry time.
    case number(Word)
    /// A text.
    case text([Piece])
    case object([Member])
    case array([ErrorShape])

    /// A member of an object.
    struct Member: Equatable, Sendable {
        let name: String
        let shape: ErrorShape
    }

    /// Reads a shape; throws the word behind `$` that is unknown.
    init(_ value: JSON.Value) throws(UnknownWord) {
        switch value.kind {
        case .object:
            var members: [Member] = []
            for member in value.members { members.append(Member(name: member.name, shape: try ErrorShape(member))) }
            self = .object(members)
        case .array:
            var values: [ErrorShape] = []
            for member in value.members { values.append(try ErrorShape(member)) }
            self = .array(values)
        case .string:
            let pieces = try ErrorShape.pieces(value.string ?? "")
            if pieces.count == 1, case .word(let word) = pieces[0], word == .status || word == .retry {
                self = .number(word)
            } else {
                self = .text(pieces)
            }
        case .number, .yes, .no, .null: self = .literal(Array(value.raw))
        }
    }

    /// A word behind `$` that names no part of a refusal.
    struct UnknownWord: Error, Equatable {
        let word: String
    }

    private static func pieces(_ text: String) throws(UnknownWord) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text.utf8[...]
        while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
            let letters = rest[rest.index(after: dollar)...].prefix { ASCII.isLetter($0) }
            let before = rest[..<(letters.isEmpty ? letters.endIndex : dollar)]
            if !before.isEmpty { pieces.append(.text(String(decoding: before, as: UTF8.self))) }
            if !letters.isEmpty {
                let name = String(decoding: letters, as: UTF8.self)
                guard let word = Word(rawValue: name) else { throw UnknownWord(word: name) }
                pieces.append(.word(word))
            }
            rest = rest[letters.endIndex...]
        }
        if !rest.isEmpty || pieces.isEmpty { pieces.append(.text(String(decoding: rest, as: UTF8.self))) }
        return pieces
    }

    /// Whether the shape contains the word.
    func holds(_ word: Word) -> Bool {
        switch self {
        case .literal: false
        case .number(let own): own == word
        case .text(let pieces): pieces.contains(.word(word))
        case .object(let members): members.contains { $0.shape.holds(word) }
        case .array(let values): values.contains { $0.holds(word) }
        }
    }

    /// The shape filled with the parts of a refusal.
    func node(_ refused: RouteErrors.Refused) -> JSONNode {
        switch self {
        case .literal(let text): .raw(text)
        case .number(let word):
            (word == .status ? refused.status : refused.retryAfterSeconds).map { .int($0) } ?? .raw(Array("null".utf8))
        case .text(let pieces): .text(pieces.map { ErrorShape.text($0, refused) }.joined())
        case .object(let members): .object(members.map { ($0.name, $0.shape.node(refused)) })
        case .array(let values): .array(values.map { $0.node(refused) })
        }
    }

    private static func text(_ piece: Piece, _ refused: RouteErrors.Refused) -> String {
        switch piece {
        case .text(let text): text
        case .word(.message): refused.message
        case .word(.code): refused.code
        case .word(.status): "\(refused.status)"
        case .word(.request): refused.request
        case .word(.retry): refused.retryAfterSeconds.map { "\($0)" } ?? ""
        }
    }

    /// The JSON schema of the shape's JSON.
    var schema: JSONNode {
        switch self {
        case .literal(let text): ["const": .raw(text)]
        case .number(.retry): ["type": ["integer", "null"]]
        case .number: ["type": "integer"]
        case .text: ["type": "string"]
        case .object(let members):
            [
                "type": "object", "required": .array(members.map { .text($0.name) }),
                "properties": .object(members.map { ($0.name, $0.shape.schema) }),
            ]
        case .array(let values):
            switch values.count {
            case 0: ["type": "array", "maxItems": 0]
            case 1: list(values[0].schema, 1)
            default: list(["anyOf": .array(values.map(\.schema))], values.count)
            }
        }
    }

    /// The schema of an array with this many values of one schema.
    ///
    /// It avoids `prefixItems`, which tools for older drafts of JSON Schema do not accept.
    private func list(_ item: JSONNode, _ count: Int) -> JSONNode {
        ["type": "array", "items": item, "minItems": .int(count), "maxItems": .int(count)]
    }
}
