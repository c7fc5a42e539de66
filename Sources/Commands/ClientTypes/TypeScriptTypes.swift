/// The types of commands, events and states as declarations of TypeScript, for `clients/js`.
public struct TypeScriptTypes {
    private let types: ClientTypes
    /// The identifiers of the declared types, by their names.
    private let shared: [String: String]

    /// Takes the scripts of a node.
    public init(_ catalogue: Catalogue) {
        types = ClientTypes(catalogue)
        // The file's own three types, and one that it uses.
        var scope = IdentifierScope(reserved: ["Commands", "Events", "States", "Record"])
        shared = types.named.reduce(into: [:]) { $0[$1.name] = scope.take(ClientTypes.typeName($1.name)) }
    }

    /// The text of a file `.d.ts`.
    public var text: String {
        var parts = ["// Written by `switchboard types typescript`; a change here is lost when it is written again.\n"]
        parts += types.named.map { named in
            comment(named.value.text)
                + "export type \(shared[named.name] ?? "") = \(written(named.value.type));\n"
        }
        parts.append(
            block(
                "Commands", "The commands by name: what a call takes, and what it answers.",
                types.commands.map { (comment($0.summary, "  "), $0.name, command($0)) }))
        parts.append(
            block(
                "Events", "The events by name, with their data.",
                types.events.map { ("", $0.name, written(.union($0.types), "  ")) }))
        parts.append(
            block(
                "States", "The states by namespace.",
                types.states.map { ("", $0.namespace, written($0.type, "  ")) }))
        return parts.joined(separator: "\n")
    }

    private func block(_ name: String, _ about: String, _ members: [(comment: String, name: String, type: String)])
        -> String
    {
        comment(about) + "export type \(name) = {\n"
            + members.map { "\($0.comment)  readonly \(key($0.name)): \($0.type);\n" }.joined() + "};\n"
    }

    private func command(_ command: CommandDescriptor) -> String {
        let arguments = command.arguments.map { argument in
            let isNeeded = command.needs(argument)
            return comment(argument.text, "      ") + "      readonly \(key(argument.wire))\(isNeeded ? "" : "?"): "
                + TypeScriptTypes.written(argument.type) + (isNeeded ? "" : " | null") + ";\n"
        }
        let answer =
            comment(command.returns.text, "    ") + "    readonly answer: \(written(command.returns.type, "    "));\n"
        let taken = arguments.isEmpty ? "Record<string, never>" : "{\n" + arguments.joined() + "    }"
        return "{\n    readonly args: \(taken);\n" + answer + "  }"
    }

    private func comment(_ text: String, _ margin: String = "") -> String {
        text.isEmpty ? "" : "\(margin)/** \(ClientTypes.line(text).replacing("*/", with: "* /")) */\n"
    }

    /// A name as the key of a member.
    private func key(_ name: String) -> String {
        let isWord = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isWord && name.first?.isNumber == false ? name : "'\(name)'"
    }

    /// A text between quotes; it has neither a quote nor a new line.
    private func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\t": "\\t"
            case "\r": "\\r"
            default: String(scalar)
            }
        }
        return "'" + scalars.joined() + "'"
    }

    private func written(_ type: ValueType, _ margin: String = "") -> String {
        switch type {
        case .any: "unknown"
        case .string: "string"
        case .int, .number: "number"
        case .bool: "boolean"
        case .null: "null"
        case .literal(let text): quoted(text)
        case .list(.union(let types)): "readonly (" + written(.union(types), margin) + ")[]"
        case .list(let element): "readonly " + written(element, margin) + "[]"
        case .union(let types): types.map { written($0, margin) }.joined(separator: " | ")
        case .named(let name): shared[name] ?? "unknown"
        case .object(members: [], others: nil): "Record<string, never>"
        case .object(let members, let others):
            "{\n" + members.map { member(key($0.name) + ($0.isOptional ? "?" : ""), $0.type, margin) }.joined()
                + (others.map { member("[name: string]", members.isEmpty ? $0 : .any, margin) } ?? "") + margin + "}"
        }
    }

    private func member(_ key: String, _ type: ValueType, _ margin: String) -> String {
        "\(margin)  readonly \(key): \(written(type, margin + "  "));\n"
    }

    private static func written(_ type: ArgumentType) -> String {
        switch type {
        case .id, .user, .time: "string | number"
        case .string: "string"
        case .int, .number: "number"
        case .choice(let words): words.map { "'\($0)'" }.joined(separator: " | ")
        case .bool: "boolean"
        case .json: "unknown"
        case .ids: "readonly (string | number)[]"
        }
    }
}
