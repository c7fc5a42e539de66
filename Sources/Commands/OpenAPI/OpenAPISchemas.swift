import Core

/// JSON schemas of requests and answers.
enum OpenAPISchemas {
    static let id = "^[A-Za-z0-9._~:-]{1,200}$"
    static let user = "^[A-Za-z0-9._~:-]{1,128}$"
    static let time = "^(19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}T"

    /// A reference to a shared schema.
    static func reference(_ name: String) -> JSONNode {
        ["$ref": .text("#/components/schemas/" + name)]
    }

    /// The schema of an argument inside a JSON object.
    ///
    /// `isNeeded`: every caller must give it. `null` counts as absent.
    static func argument(_ argument: ArgumentDeclaration, isNeeded: Bool) -> JSONNode {
        let schema = type(argument.type, isText: false)
        if case .json = argument.type { return described(isNeeded ? schema.with("not", null) : schema, argument) }
        return described(isNeeded ? schema : orNull(schema), argument)
    }

    /// The schema of an argument in a query.
    static func query(_ argument: ArgumentDeclaration) -> JSONNode {
        let schema = type(argument.type, isText: true)
        if case .json = argument.type, argument.isRequired { return described(schema.with("not", null), argument) }
        return described(schema, argument)
    }

    /// The schema of an argument in a path, whose parts have no slash and no control character and are not `.` or `..`.
    static func path(_ argument: ArgumentDeclaration) -> JSONNode {
        guard case .string(let range) = argument.type else {
            let schema = type(argument.type, isText: true)
            let mayBeDots = argument.type == .id || argument.type == .user
            return described(mayBeDots ? schema.with("not", dots) : schema, argument)
        }
        let schema: JSONNode = [
            "type": "string", "minLength": .int(max(1, range.lowerBound)), "maxLength": .int(range.upperBound),
            "pattern": "^[^\\u0000-\\u001f\\u007f/\\\\]+$", "not": dots,
        ]
        return described(schema, argument)
    }

    private static let null: JSONNode = ["type": "null"]
    private static let dots: JSONNode = ["enum": [".", ".."]]

    /// A schema that also accepts `null`.
    static func orNull(_ schema: JSONNode) -> JSONNode {
        ["anyOf": [schema, null]]
    }

    private static func described(_ schema: JSONNode, _ argument: ArgumentDeclaration) -> JSONNode {
        var schema = schema
        if case .byDefault(let value) = argument.presence {
            schema = schema.with("default", json(value, argument.type))
        }
        return argument.text.isEmpty ? schema : schema.with("description", .text(argument.text))
    }

    /// A default as JSON.
    private static func json(_ value: [UInt8], _ type: ArgumentType) -> JSONNode {
        switch type {
        case .int, .number, .json: .raw(value)
        case .bool: .bool(value == [UInt8(ascii: "1")])
        case .id, .user, .string, .choice, .time, .ids: .text(String(decoding: value, as: UTF8.self))
        }
    }

    private static func type(_ type: ArgumentType, isText: Bool) -> JSONNode {
        // Inside JSON an id may be a whole number; a pattern applies to strings only.
        func anID(_ pattern: String) -> JSONNode {
            isText
                ? ["type": "string", "pattern": .text(pattern)]
                : [
                    "type": ["string", "integer"], "pattern": .text(pattern),
                    "minimum": .int(ArgumentType.integers.lowerBound),
                    "maximum": .int(ArgumentType.integers.upperBound),
                ]
        }
        switch type {
        case .id: return anID(id)
        case .user: return anID(user)
        case .string(let range):
            return [
                "type": "string", "minLength": .int(range.lowerBound), "maxLength": .int(range.upperBound),
                "pattern": "^[^\\u0000]*$",
            ]
        case .int(let range):
            return ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
        case .number(let range):
            return (["type": "number"] as JSONNode).with("minimum", range.map { number($0.lowerBound) })
                .with("maximum", range.map { number($0.upperBound) })
        case .choice(let words): return ["type": "string", "enum": .array(words.map { .text($0) })]
        case .bool: return ["type": "boolean"]
        case .json: return ["title": .text(type.expectation)]
        case .time:
            return [
                "oneOf": [
                    [
                        "type": "integer", "minimum": .int(Timestamp.range.lowerBound),
                        "maximum": .int(Timestamp.range.upperBound),
                    ],
                    ["type": "string", "format": "date-time", "pattern": .text(time)],
                ]
            ]
        case .ids(let range):
            return [
                "type": "array", "minItems": .int(range.lowerBound), "maxItems": .int(range.upperBound),
                "items": anID(id),
            ]
        }
    }

    private static func number(_ value: Double) -> JSONNode {
        .raw(Array(value.description.utf8))
    }
}
