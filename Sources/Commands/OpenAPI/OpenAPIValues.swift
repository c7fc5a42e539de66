/// JSON schemas of answers, events and declared types.
enum OpenAPIValues {
    /// The schema of a type; a declared one is a reference.
    static func schema(_ type: ValueType) -> JSONNode {
        switch type {
        case .any: [:]
        case .string, .int, .number, .bool, .null: ["type": .text(word(type) ?? "")]
        case .literal(let text): ["const": .text(text)]
        case .list(let element): ["type": "array", "items": schema(element)]
        case .object(let members, let others): object(members, others)
        case .union(let types): union(types)
        case .named(let name): OpenAPISchemas.reference(name)
        }
    }

    /// The schema with the description of a declared value.
    static func schema(_ value: DeclaredValue) -> JSONNode {
        let schema = schema(value.type)
        return value.text.isEmpty ? schema : schema.with("description", .text(value.text))
    }

    private static func object(_ members: [ValueType.Member], _ others: ValueType?) -> JSONNode {
        let needed = members.filter { !$0.isOptional }.map { JSONNode.text($0.name) }
        return (["type": "object"] as JSONNode)
            .with("properties", members.isEmpty ? nil : .object(members.map { ($0.name, schema($0.type)) }))
            .with("required", needed.isEmpty ? nil : .array(needed))
            .with("additionalProperties", others.flatMap { $0 == .any ? nil : schema($0) })
    }

    private static func union(_ types: [ValueType]) -> JSONNode {
        let words = types.compactMap { word($0) }
        if words.count == types.count { return ["type": .array(words.map { .text($0) })] }
        let texts = types.compactMap { type -> String? in
            guard case .literal(let text) = type else { return nil }
            return text
        }
        if texts.count == types.count { return ["enum": .array(texts.map { .text($0) })] }
        return ["anyOf": .array(types.map { schema($0) })]
    }

    /// The word of a type that JSON schemas have a word for.
    private static func word(_ type: ValueType) -> String? {
        switch type {
        case .string: "string"
        case .int: "integer"
        case .number: "number"
        case .bool: "boolean"
        case .null: "null"
        case .any, .literal, .list, .object, .union, .named: nil
        }
    }
}
