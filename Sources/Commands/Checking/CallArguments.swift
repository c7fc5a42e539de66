import Core

/// Compares the arguments that a body gives a call of `later` with those that the called command takes.
struct CallArguments {
    /// A mistake, and the token at which it is told.
    struct Mistake {
        let index: Int
        let message: String
    }

    private let command: CommandDescriptor
    private let word: String
    /// Arguments that the caller need not give, since somebody else adds them.
    private let added: [String]
    private(set) var mistakes: [Mistake] = []

    /// The mistakes in the table whose opening brace is at an index; `word` is the function that makes the call.
    init(_ table: LiteralTable, at start: Int, of command: CommandDescriptor, word: String, added: [String] = []) {
        self.command = command
        self.word = word
        self.added = added
        if let index = table.unnamed {
            note(index, "\(command.name) takes arguments by name, as in {\(names.first ?? "name") = ...}")
        }
        for member in table.members { check(member) }
        if table.isWhole { checkMissing(table, start) }
    }

    private var names: [String] { command.arguments.map(\.wire) }

    private mutating func note(_ index: Int, _ text: String) {
        mistakes.append(Mistake(index: index, message: "\(word): " + text))
    }

    private mutating func check(_ member: LiteralTable.Member) {
        guard let argument = command.arguments.first(where: { $0.wire == member.name }) else {
            if member.name == "id" && !command.takesID { return }
            let inside = command.arguments.first { $0.name == member.name }
            let hint = inside.map { "; on the wire it is \($0.wire)" } ?? NearestName.hint(names, to: member.name)
            return note(
                member.index, PrintableText.quoted(member.name) + " is no argument of \(command.name)" + hint)
        }
        guard !added.contains(member.name) else {
            return note(member.index, "\(member.name) of \(command.name) is given by the courier")
        }
        if let json = member.json, !fits(json, argument) {
            note(
                member.index,
                "'\(member.name)' of \(command.name) must be \(argument.type.expectation); got "
                    + PrintableText.clean(String(decoding: json, as: UTF8.self)))
        }
    }

    private func fits(_ json: [UInt8], _ argument: ArgumentDeclaration) -> Bool {
        guard let value = try? JSON(parsing: json, limits: JSON.Limits(depthMax: 0, elementsMax: 1)).root else {
            return true
        }
        if let fold = argument.fold, let text = value.stringBytes {
            return argument.type.argument(ofText: fold.folded(text)) != nil
        }
        return argument.type.argument(of: value) != nil
    }

    private mutating func checkMissing(_ table: LiteralTable, _ start: Int) {
        let given = Set(table.members.filter { !$0.isAbsent }.map(\.name))
        for argument in command.arguments where !given.contains(argument.wire) && !added.contains(argument.wire) {
            // The worker is no user, so it has to say for whom it calls.
            let isNeeded = argument.type == .user ? argument.presence != .optional : argument.isRequired
            if isNeeded { note(start, "'\(argument.wire)' of \(command.name) is missing") }
        }
    }
}
