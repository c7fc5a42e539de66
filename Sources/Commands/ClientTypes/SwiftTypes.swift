/// The types of commands, events and states as Swift, for the library `SwitchboardClient`.
///
/// Words of which an answer has one are texts, so that a new word breaks no app that knows it not.
public struct SwiftTypes {
    private let types: ClientTypes
    private let catalogue: Catalogue

    /// Takes the scripts of a node.
    public init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
        types = ClientTypes(catalogue)
    }

    /// The text of a file of Swift.
    public var text: String {
        var parts = [
            "// Written by `switchboard types swift`; a change here is lost when it is written again.\n\n"
                + "import SwitchboardClient\n"
        ]
        // The name of a pack's type may also be the name of an event, so each kind has an enum of its own.
        parts.append(
            block(
                "Shared", "The types that several commands, events and states share.",
                types.named.map {
                    comment($0.value.text, "    ")
                        + declaration(SwiftTypes.typeName($0.name), $0.value.type, "    ")
                }))
        parts.append(
            block("Commands", "The commands: a value of each is a call.", types.commands.map { command($0, "    ") }))
        parts.append(
            block(
                "Events", "The data of events.",
                types.events.map { declaration(SwiftTypes.typeName($0.name), .union($0.types), "    ") }))
        parts.append(
            block(
                "States", "The states of topics, by namespace.",
                types.states.map { declaration(SwiftTypes.typeName($0.namespace), $0.type, "    ") }))
        return parts.joined(separator: "\n")
    }

    private func block(_ name: String, _ about: String, _ members: [String]) -> String {
        "/// \(about)\npublic enum \(name) {\n" + members.joined(separator: "\n") + "}\n"
    }

    // MARK: Commands

    private func command(_ command: CommandDescriptor, _ margin: String) -> String {
        let inner = margin + "    "
        let members = command.arguments.map { argument in
            let isNeeded = ClientTypes.isNeeded(argument, of: command)
            return (
                argument: argument, name: SwiftTypes.escaped(argument.wire),
                type: type(argument) + (isNeeded ? "" : "?"),
                byDefault: isNeeded ? "" : " = nil"
            )
        }
        var lines = comment(command.summary, margin)
        lines += "\(margin)public struct \(SwiftTypes.typeName(command.name)): SwitchboardCommand {\n"
        lines += "\(inner)public static let commandName = \"\(command.name)\"\n"
        for member in members {
            if case .choice(let words) = member.argument.type {
                lines +=
                    "\(inner)public enum \(SwiftTypes.typeName(member.argument.wire)): String, Encodable, Sendable {\n"
                for word in words {
                    let name = ClientTypes.typeName(word)
                    let first = name.prefix(1).lowercased()
                    lines +=
                        "\(inner)    case \(SwiftTypes.escaped(first + name.dropFirst())) = \"\(word)\"\n"
                }
                lines += "\(inner)}\n"
            }
            lines += comment(member.argument.text, inner) + "\(inner)public var \(member.name): \(member.type)\n"
        }
        let parameters = members.map { "\($0.name): \($0.type)\($0.byDefault)" }.joined(separator: ", ")
        lines += "\(inner)public init(\(parameters)) {\n"
        lines += members.map { "\(inner)    self.\($0.name) = \($0.name)\n" }.joined() + "\(inner)}\n"
        lines += comment(command.returns.text, inner) + declaration("Answer", command.returns.type, inner)
        return lines + "\(margin)}\n"
    }

    private func type(_ argument: ArgumentDeclaration) -> String {
        switch argument.type {
        case .id, .user, .string, .time: "String"
        case .int: "Int"
        case .number: "Double"
        case .choice: SwiftTypes.typeName(argument.wire)
        case .bool: "Bool"
        case .json: "JSONValue"
        case .ids: "[String]"
        }
    }

    // MARK: Values

    /// The declaration of a type under a name.
    private func declaration(_ name: String, _ type: ValueType, _ margin: String) -> String {
        if case .union(let types) = type, types.count == 1 { return declaration(name, types[0], margin) }
        guard let members = members(type) else {
            let (text, inside) = use(type, name + "Value", margin)
            return inside + "\(margin)public typealias \(name) = \(text)\n"
        }
        let inner = margin + "    "
        var lines = "\(margin)public struct \(name): Decodable, Sendable, Hashable {\n"
        for member in members {
            let (text, inside) = use(member.type, SwiftTypes.typeName(member.name), inner)
            let isOptional = member.isOptional && !text.hasSuffix("?")
            lines += inside + "\(inner)public var \(SwiftTypes.escaped(member.name)): \(text)\(isOptional ? "?" : "")\n"
        }
        return lines + "\(margin)}\n"
    }

    /// A type as it is used, and the declaration that it needs, under a name, in front.
    private func use(_ type: ValueType, _ name: String, _ margin: String) -> (text: String, inside: String) {
        switch type {
        case .any, .null: return ("JSONValue", "")
        case .string, .literal: return ("String", "")
        case .int: return ("Int", "")
        case .number: return ("Double", "")
        case .bool: return ("Bool", "")
        case .named(let name): return ("Shared." + SwiftTypes.typeName(name), "")
        case .list(let element):
            let (text, inside) = use(element, name, margin)
            return ("[\(text)]", inside)
        case .object(members: [], others: let others?):
            if others == .any { return ("JSONValue", "") }
            let (text, inside) = use(others, name, margin)
            return ("[String: \(text)]", inside)
        case .object: return (name, declaration(name, type, margin))
        case .union(let types):
            let others = types.filter { $0 != .null }
            if others.count < types.count, let one = others.first {
                let (text, inside) = use(others.count == 1 ? one : .union(others), name, margin)
                return (text.hasSuffix("?") || text == "JSONValue" ? text : text + "?", inside)
            }
            if types.allSatisfy({ if case .literal = $0 { true } else { $0 == .string } }) { return ("String", "") }
            return members(type) == nil ? ("JSONValue", "") : (name, declaration(name, type, margin))
        }
    }

    /// The members of an object, or of several of which a value is one; `nil` when the type is none.
    private func members(_ type: ValueType) -> [ValueType.Member]? {
        switch type {
        case .object(members: [], others: .some): return nil
        case .object(let members, _): return members
        case .union(let types):
            let all = types.map { members(catalogue.writtenOut($0)) }
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

    private func comment(_ text: String, _ margin: String) -> String { text.isEmpty ? "" : "\(margin)/// \(text)\n" }

    /// The name of a type inside another; `Type` and `Protocol` are taken there.
    private static func typeName(_ name: String) -> String {
        let name = ClientTypes.typeName(name)
        return ["Type", "Protocol", "Self", "Any"].contains(name) ? name + "Value" : name
    }

    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    private static let keywords: Set<String> = [
        "as", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
        "extension", "fallthrough", "false", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
        "is", "let", "nil", "operator", "private", "protocol", "public", "repeat", "return", "self", "static", "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}
