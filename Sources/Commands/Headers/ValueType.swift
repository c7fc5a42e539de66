/// The type of a JSON value that a script answers with, emits or provides as a state.
public indirect enum ValueType: Hashable, Sendable {
    /// Any value.
    case any
    /// A text.
    case string
    /// A whole number.
    case int
    /// A number.
    case number
    /// True or false.
    case bool
    /// `null`.
    case null
    /// This text.
    case literal(String)
    /// A list of values of one type.
    case list(ValueType)
    /// An object with these members, and perhaps with others of one type under names that are data.
    case object(members: [Member], others: ValueType?)
    /// A value of one of these types.
    case union([ValueType])
    /// A type that a header declares by `@type`; ``Catalogue`` puts the pack's name and a dot in front.
    case named(String)

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The name: `[A-Za-z_][A-Za-z0-9_]*`.
        public let name: String
        /// The type of the value.
        public let type: ValueType
        /// Whether an object may lack the member.
        public let isOptional: Bool
    }

    /// The words that are types in a header.
    static let words = ["any", "bool", "int", "null", "number", "object", "string"]

    /// The type of one of ``words``; nil for any other word.
    ///
    /// No table holds the types: LeakSanitizer does not see the tagged reference by which a global keeps an indirect value.
    init?(word: String) {
        switch word {
        case "any": self = .any
        case "bool": self = .bool
        case "int": self = .int
        case "null": self = .null
        case "number": self = .number
        case "object": self = .object(members: [], others: .any)
        case "string": self = .string
        default: return nil
        }
    }

    /// The declared types that it names.
    var names: Set<String> {
        switch self {
        case .any, .string, .int, .number, .bool, .null, .literal: []
        case .named(let name): [name]
        case .list(let element): element.names
        case .union(let types): types.reduce(into: []) { $0.formUnion($1.names) }
        case .object(let members, let others):
            members.reduce(into: others?.names ?? []) { $0.formUnion($1.type.names) }
        }
    }

    /// Number of types in it, itself included; `named` says it of a declared type.
    func size(_ named: (String) -> Int) -> Int {
        switch self {
        case .any, .string, .int, .number, .bool, .null, .literal: 1
        case .named(let name): named(name)
        case .list(let element): 1 + element.size(named)
        case .union(let types): types.reduce(1) { $0 + $1.size(named) }
        case .object(let members, let others):
            members.reduce(1 + (others?.size(named) ?? 0)) { $0 + $1.type.size(named) }
        }
    }

    /// The type with other types in place of the declared types that it names.
    func replacing(_ other: (String) -> ValueType) -> ValueType {
        switch self {
        case .any, .string, .int, .number, .bool, .null, .literal: self
        case .named(let name): other(name)
        case .list(let element): .list(element.replacing(other))
        case .union(let types): .union(types.map { $0.replacing(other) })
        case .object(let members, let others):
            .object(
                members: members.map {
                    Member(name: $0.name, type: $0.type.replacing(other), isOptional: $0.isOptional)
                },
                others: others?.replacing(other))
        }
    }
}

extension ValueType: CustomStringConvertible {
    /// The type as a header writes it, in one line.
    public var description: String {
        switch self {
        case .any: "any"
        case .string: "string"
        case .int: "int"
        case .number: "number"
        case .bool: "bool"
        case .null: "null"
        case .literal(let text): "'\(text)'"
        case .list(let element): "[\(element)]"
        case .union(let types): types.map(\.description).joined(separator: "|")
        case .named(let name): name
        case .object(members: [], others: .any?): "object"
        case .object(let members, let others):
            "{"
                + (members.map { "\($0.name)\($0.isOptional ? "?" : ""): \($0.type)" }
                + (others.map { ["*: \($0)"] } ?? [])).joined(separator: ", ") + "}"
        }
    }
}
