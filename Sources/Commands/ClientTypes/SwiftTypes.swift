/// The types of commands, events and states as Swift, for the library `SwitchboardClient`.
///
/// Words of which an answer has one are texts, so that a new word breaks no app that knows it not.
public struct SwiftTypes {
    private let types: ClientTypes
    private let catalogue: Catalogue
    /// The identifiers of the declared types, by their names.
    private let shared: [String: String]
    private let sharedScope: IdentifierScope

    /// Takes the scripts of a node.
    public init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
        types = ClientTypes(catalogue)
        var scope = IdentifierScope(reserved: SwiftTypes.typesInUse)
        shared = types.named.reduce(into: [:]) { $0[$1.name] = scope.take(ClientTypes.typeName($1.name)) }
        sharedScope = scope
    }

    /// The text of a file of Swift.
    public var text: String {
        var parts = [
            "// Written by `switchboard types swift`; a change here is lost when it is written again.\n\n"
                + "import SwitchboardClient\n"
        ]
        // The name of a pack's type may also be the name of an event, so each kind has an enum of its own.
        var scope = sharedScope
        parts.append(
            block(
                "Shared", "The types that several commands, events and states share.",
                types.named.map {
                    comment($0.value.text, "    ")
                        + declaration(shared[$0.name] ?? "", $0.value.type, "    ", &scope)
                }))
        let commands = given(types.commands.map(\.name))
        parts.append(
            block(
                "Commands", "The commands: a value of each is a call.",
                zip(types.commands, commands.names).map { command($0, $1, "    ") }))
        parts.append(block("Events", "The data of events.", types.events.map { ($0.name, .union($0.types)) }))
        parts.append(
            block("States", "The states of topics, by namespace.", types.states.map { ($0.namespace, $0.type) }))
        return parts.joined(separator: "\n")
    }

    private func block(_ name: String, _ about: String, _ members: [String]) -> String {
        "/// \(about)\npublic enum \(name) {\n" + members.joined(separator: "\n") + "}\n"
    }

    /// A block of types under names that need not be identifiers; one that lost its form is told.
    private func block(_ name: String, _ about: String, _ values: [(name: String, type: ValueType)]) -> String {
        var (names, scope) = given(values.map(\.name))
        let members = zip(values, names).map { value, name in
            comment(name == ClientTypes.typeName(value.name) ? "" : "`\(value.name)`", "    ")
                + declaration(name, value.type, "    ", &scope)
        }
        return block(name, about, members)
    }

    /// The identifiers of types under these names in a scope of their own.
    private func given(_ names: [String]) -> (names: [String], scope: IdentifierScope) {
        var scope = IdentifierScope(reserved: SwiftTypes.typesInUse)
        return (names.map { scope.take(ClientTypes.typeName($0)) }, scope)
    }

    // MARK: Commands

    private func command(_ command: CommandDescriptor, _ name: String, _ margin: String) -> String {
        let inner = margin + "    "
        let properties = SwiftTypes.properties(command.arguments.map(\.wire))
        var scope = IdentifierScope(reserved: SwiftTypes.typesInUse.union(properties).union(["Answer"]))
        let members = zip(command.arguments, properties).map { argument, property in
            let choice = scope.take(ClientTypes.typeName(argument.wire))
            let isNeeded = command.needs(argument)
            return (
                argument: argument, name: SwiftTypes.escaped(property), choice: choice,
                type: type(argument, choice) + (isNeeded ? "" : "?"), byDefault: isNeeded ? "" : " = nil"
            )
        }
        var lines = comment(command.summary, margin)
        lines += "\(margin)public struct \(name): SwitchboardCommand {\n"
        lines += "\(inner)public static let commandName = \"\(command.name)\"\n"
        for member in members {
            if case .choice(let words) = member.argument.type { lines += choice(member.choice, words, inner) }
            lines += comment(member.argument.text, inner) + "\(inner)public var \(member.name): \(member.type)\n"
        }
        let parameters = members.map { "\($0.name): \($0.type)\($0.byDefault)" }.joined(separator: ", ")
        lines += "\(inner)public init(\(parameters)) {\n"
        lines += members.map { "\(inner)    self.\($0.name) = \($0.name)\n" }.joined() + "\(inner)}\n"
        lines += codingKeys(properties, command.arguments.map(\.wire), inner)
        lines += comment(command.returns.text, inner) + declaration("Answer", command.returns.type, inner, &scope)
        return lines + "\(margin)}\n"
    }

    private func choice(_ name: String, _ words: [String], _ margin: String) -> String {
        var scope = IdentifierScope(reserved: SwiftTypes.propertiesInUse)
        let cases = words.map { word in
            let name = ClientTypes.typeName(word)
            let identifier = scope.take(name.prefix(1).lowercased() + name.dropFirst())
            return "\(margin)    case \(SwiftTypes.escaped(identifier)) = \"\(word)\"\n"
        }
        return "\(margin)public enum \(name): String, Encodable, Sendable {\n" + cases.joined() + "\(margin)}\n"
    }

    private func type(_ argument: ArgumentDeclaration, _ choice: String) -> String {
        switch argument.type {
        case .id, .user, .string, .time: "String"
        case .int: "Int"
        case .number: "Double"
        case .choice: choice
        case .bool: "Bool"
        case .json: "JSONValue"
        case .ids: "[String]"
        }
    }

    // MARK: Values

    /// The declaration of a type under an identifier of the scope.
    private func declaration(
        _ name: String, _ type: ValueType, _ margin: String, _ scope: inout IdentifierScope
    ) -> String {
        if case .union(let types) = type, types.count == 1 { return declaration(name, types[0], margin, &scope) }
        guard let members = members(type) else {
            let (text, inside) = use(type, name + "Value", margin, &scope)
            return inside + "\(margin)public typealias \(name) = \(text)\n"
        }
        let inner = margin + "    "
        let properties = SwiftTypes.properties(members.map(\.name))
        var insideScope = IdentifierScope(reserved: SwiftTypes.typesInUse.union(properties))
        var lines = "\(margin)public struct \(name): Decodable, Sendable, Hashable {\n"
        for (member, property) in zip(members, properties) {
            let (text, inside) = use(member.type, ClientTypes.typeName(member.name), inner, &insideScope)
            let mark = member.isOptional && !text.hasSuffix("?") ? "?" : ""
            lines += inside + "\(inner)public var \(SwiftTypes.escaped(property)): \(text)\(mark)\n"
        }
        return lines + codingKeys(properties, members.map(\.name), inner) + "\(margin)}\n"
    }

    /// A type as it is used, and in front the declaration that it needs, under an identifier like the wanted one.
    private func use(
        _ type: ValueType, _ wanted: String, _ margin: String, _ scope: inout IdentifierScope
    ) -> (text: String, inside: String) {
        switch type {
        case .any, .null: return ("JSONValue", "")
        case .string, .literal: return ("String", "")
        case .int: return ("Int", "")
        case .number: return ("Double", "")
        case .bool: return ("Bool", "")
        case .named(let name): return ("Shared." + (shared[name] ?? ""), "")
        case .list(let element):
            let (text, inside) = use(element, wanted, margin, &scope)
            return ("[\(text)]", inside)
        case .object(members: [], others: let others?):
            if others == .any { return ("JSONValue", "") }
            let (text, inside) = use(others, wanted, margin, &scope)
            return ("[String: \(text)]", inside)
        case .object: break
        case .union(let types):
            let others = types.filter { $0 != .null }
            if others.count < types.count, let one = others.first {
                let (text, inside) = use(others.count == 1 ? one : .union(others), wanted, margin, &scope)
                return (text.hasSuffix("?") || text == "JSONValue" ? text : text + "?", inside)
            }
            if types.allSatisfy({ if case .literal = $0 { true } else { $0 == .string } }) { return ("String", "") }
            if members(type) == nil { return ("JSONValue", "") }
        }
        let name = scope.take(wanted)
        return (name, declaration(name, type, margin, &scope))
    }

    /// The members of an object, or of several of which a value is one; `nil` when the type is none.
    private func members(_ type: ValueType) -> [ValueType.Member]? {
        switch type {
        case .object(members: [], others: .some): return nil
        case .object(let members, _): return members
        case .union(let types):
            let all = types.map { members(catalogue.meant($0)) }
            guard !all.isEmpty, all.allSatisfy({ $0 != nil }) else { return nil }
            return merged(all.compactMap(\.self))
        default: return nil
        }
    }

    /// The members of all forms of an object; one that a form lacks is optional.
    private func merged(_ forms: [[ValueType.Member]]) -> [ValueType.Member] {
        var merged: [ValueType.Member] = []
        for member in forms.joined() where !merged.contains(where: { $0.name == member.name }) {
            let same = forms.compactMap { form in form.first { $0.name == member.name } }
            var types: [ValueType] = []
            for type in same.flatMap({ if case .union(let types) = $0.type { types } else { [$0.type] } })
            where !types.contains(type) {
                types.append(type)
            }
            merged.append(
                ValueType.Member(
                    name: member.name, type: types.count == 1 ? types[0] : .union(types),
                    isOptional: same.count < forms.count || same.contains { $0.isOptional }))
        }
        return merged
    }

    // MARK: Names

    private func comment(_ text: String, _ margin: String) -> String {
        text.isEmpty ? "" : "\(margin)/// \(ClientTypes.line(text))\n"
    }

    /// The identifiers of properties under these names, which need not be identifiers.
    private static func properties(_ names: [String]) -> [String] {
        var scope = IdentifierScope(reserved: propertiesInUse)
        return names.map { scope.take($0) }
    }

    /// The keys of properties in JSON, where one has another name there.
    private func codingKeys(_ properties: [String], _ names: [String], _ margin: String) -> String {
        guard properties != names else { return "" }
        let cases = zip(properties, names).map { "\(margin)    case \(SwiftTypes.escaped($0)) = \"\($1)\"\n" }
        return "\(margin)private enum CodingKeys: String, CodingKey {\n" + cases.joined() + "\(margin)}\n"
    }

    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Types that the text uses, and names that no type may have: another of that name inside would take their place.
    private static let typesInUse: Set<String> = [
        "Any", "Bool", "CodingKey", "CodingKeys", "Decodable", "Double", "Encodable", "Hashable", "Int", "JSONValue",
        "Protocol", "Self", "Sendable", "Shared", "String", "SwitchboardCommand", "Type",
    ]
    /// Names that no property and no case may have.
    private static let propertiesInUse: Set<String> = [
        "Protocol", "Self", "Type", "_", "hashValue", "init", "rawValue", "self",
    ]
    private static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "consume", "continue", "copy",
        "default", "defer", "deinit", "discard", "do", "each", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
    ]
}
