import Core

/// Finds names and words that a body uses and its header does not declare, without running it.
///
/// It reads names and literal words only. A mistake in a computed value is found when the body runs, so no problem
/// found is no proof that there is none.
struct BodyChecker {
    private let descriptor: CommandDescriptor
    private let path: String
    /// Whether the text is a part: the script that includes it may not call all of its functions.
    private let isPart: Bool
    private let tokens: [LuaScanner.Token]
    /// The names that the script and its parts declare themselves.
    private let own: Set<String>
    private let topics: TopicWords
    /// The command of a name; `nil` when there is none.
    private let commands: (String) -> CommandDescriptor?
    private var problems: [ScriptProblem] = []

    /// The names that bodies do not have, with their replacements.
    private static let absent: [String: String] = [
        "redis": "a body reads by read() and writes by write()",
        "KEYS": "a body finds its keys as key.NAME, declared by @key",
        "ARGV": "a body finds its arguments as args.NAME, declared by @arg",
        "os": "the only clock is now_ms",
        "loadstring": "a body's code is its file", "load": "a body's code is its file",
        "_G": "there are no globals; use local", "getfenv": "there are no globals; use local",
        "setfenv": "there are no globals; use local",
    ]

    private init(
        _ descriptor: CommandDescriptor, _ text: LuaText, _ own: Set<String>, isPart: Bool,
        _ commands: @escaping (String) -> CommandDescriptor?
    ) {
        self.descriptor = descriptor
        self.commands = commands
        self.isPart = isPart
        self.own = own
        (path, tokens) = (text.path, text.tokens)
        topics = TopicWords(text)
    }

    /// The problems of the given scripts' own files and of the parts that they include.
    ///
    /// `commands` returns the command of a name. *Complexity*: linear in all scripts' text with their parts, and in the
    /// calls that name topics by variables.
    static func problems(
        _ descriptors: [CommandDescriptor], _ commands: @escaping (String) -> CommandDescriptor?
    ) -> Set<ScriptProblem> {
        // Many scripts include the same part; its text is tokenized once.
        var known: [String: LuaText] = [:]
        var found: Set<ScriptProblem> = []
        for descriptor in descriptors {
            let texts = ([descriptor.file] + descriptor.parts).map { file in
                let name = file.pack + "/" + file.path
                let text = known[name] ?? LuaText(file)
                known[name] = text
                return text
            }
            let own = Set(texts.flatMap(\.declarations.keys))
            for (place, text) in texts.enumerated() {
                var checker = BodyChecker(descriptor, text, own, isPart: place > 0, commands)
                for index in checker.tokens.indices { checker.check(index) }
                found.formUnion(checker.problems)
            }
        }
        return found
    }

    private mutating func problem(_ index: Int, _ message: String) {
        problems.append(ScriptProblem(file: path, line: tokens[index].line, message: message))
    }

    private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    /// The literal word that begins a call's arguments, `f('word'`; `nil` when the first argument is something else.
    private func firstWord(_ index: Int) -> String? {
        guard text(index + 1) == "(", tokens.indices.contains(index + 2), tokens[index + 2].kind == .text else {
            return nil
        }
        return tokens[index + 2].text
    }

    private mutating func check(_ index: Int) {
        let token = tokens[index]
        guard token.kind == .name else { return }
        // Skips a member of something, and a name in a table: { redis = 1 }.
        guard ![".", ":"].contains(text(index - 1)) || text(index - 2) == "." else { return }
        if text(index + 1) == "=" && ["{", ",", ";"].contains(text(index - 1)) { return }
        guard !own.contains(token.text) else { return }
        if !isPart { checkDeclared(index, token.text) }
        if let mend = BodyChecker.absent[token.text] {
            problem(index, "\(token.text) is not there: " + mend)
        } else if !BodyWords.known.contains(token.text) {
            checkUnknown(index, token.text)
        }
        if token.text == "math" && text(index + 1) == "." && text(index + 2).hasPrefix("random") {
            problem(index, "math.\(text(index + 2)): the only chance is random, with @random")
        }
    }

    /// Reports a name that neither the file, nor its parts, nor `command.lua` declares.
    private mutating func checkUnknown(_ index: Int, _ word: String) {
        if text(index + 1) == "=" && text(index + 2) != "=" {
            return problem(index, "\(word) is no local, and there are no globals: write local \(word)")
        }
        problem(
            index, "\(word) is no local and no word of a body" + NearestName.hint(BodyWords.meant, to: word))
    }

    private mutating func checkDeclared(_ index: Int, _ word: String) {
        switch word {
        case "key": checkMember(index, descriptor.declaredKeys.map(\.name), "key", "@key")
        case "args":
            let made = descriptor.derived.map(\.name) + descriptor.resolved.map(\.name)
            checkMember(index, descriptor.arguments.map(\.name) + made, "args", "@arg")
        case "caller": checkCaller(index)
        case "random" where !descriptor.usesRandom: problem(index, "random is there with @random only")
        case "admit" where !descriptor.changesMembers, "expel" where !descriptor.changesMembers:
            problem(index, "\(word) is there with @members only")
        case "admit", "expel": checkTopics(index, word)
        case "mint" where descriptor.mint == nil: problem(index, "mint is there with @mint only")
        case "read": checkCommand(index, word, BodyWords.reads, other: ("write", BodyWords.writes))
        case "write":
            checkCommand(index, word, BodyWords.writes, other: ("read", BodyWords.reads))
            checkEffect(index, word)
        case "emit", "emit_each", "tell_now", "later", "step": checkEffect(index, word)
        case "call_out" where descriptor.callsOut.isEmpty, "call_room" where descriptor.callsOut.isEmpty,
            "courier_joined" where descriptor.callsOut.isEmpty:
            problem(index, "\(word) is there with @call_out only")
        case "call_out": checkCallOut(index)
        case "fail": checkFail(index)
        default: break
        }
    }

    /// The name behind the dot, as `shop` in `key.shop`; `nil` where none follows.
    private func member(_ index: Int) -> String? {
        let isName = tokens.indices.contains(index + 2) && tokens[index + 2].kind == .name
        return text(index + 1) == "." && isName ? text(index + 2) : nil
    }

    private mutating func checkMember(_ index: Int, _ names: [String], _ list: String, _ tag: String) {
        guard let name = member(index), !names.contains(name) else { return }
        let argument = tag == "@arg" ? descriptor.arguments.first { $0.wire == name } : nil
        let mend = argument.map { "; \(name) is its name on the wire, here it is args.\($0.name)" }
        problem(
            index, "\(list).\(name) is no \(tag) of the header" + (mend ?? NearestName.hint(names, to: name)))
    }

    private mutating func checkCaller(_ index: Int) {
        guard let name = member(index), !BodyWords.callerMembers.contains(name) else { return }
        let members = BodyWords.callerMembers.map { "caller." + $0 }.joined(separator: ", ")
        problem(index, "caller.\(name) is not there; there are " + members)
    }

    /// Checks that `read('GET', ...)` names a command that `read` accepts; a computed name is not checked.
    private mutating func checkCommand(_ index: Int, _ word: String, _ names: [String], other: (String, [String])) {
        guard let name = firstWord(index), [",", ")"].contains(text(index + 3)), !names.contains(name) else { return }
        let mend = other.1.contains(name) ? "; \(other.0)() takes it" : NearestName.hint(names, to: name)
        problem(
            index,
            "\(word): " + PrintableText.quoted(name) + " is no command to \(word) by; lua/README.md lists them" + mend)
    }

    private mutating func checkEffect(_ index: Int, _ word: String) {
        guard text(index + 1) == "(" else { return }
        if descriptor.isReadOnly { return problem(index, "\(word): the header says @readonly") }
        switch word {
        case "later": checkLater(index, word, descriptor.calls)
        case "step": checkLater(index, word, descriptor.steps)
        case "write": break
        default:
            let known = problems.count
            checkTopics(index, word)
            if problems.count == known { checkEvent(index, word) }
        }
    }

    /// Checks that a literal name of an event is declared: clients have the types of the header's events alone.
    private mutating func checkEvent(_ index: Int, _ word: String) {
        let names = descriptor.emits.map(\.name)
        guard let name = self.word(1, ofCall: index), !names.contains(name) else { return }
        problem(
            index,
            "\(word): " + PrintableText.quoted(name) + " is in no @emits of the header"
                + NearestName.hint(names, to: name))
    }

    private mutating func checkLater(_ index: Int, _ word: String, _ names: [String]) {
        guard let first = firstWord(index) else { return }
        if names.contains(first) { return checkArguments(2, of: first, ofCall: index, word) }
        let (tag, hint) = (word == "later" ? "@calls" : "@steps", NearestName.hint(names, to: first))
        problem(index, "\(word): " + PrintableText.quoted(first) + " is in no \(tag) of the header" + hint)
    }

    /// Checks that the topics of a call are in namespaces of the header, as far as their literal words show.
    private mutating func checkTopics(_ index: Int, _ word: String) {
        let namespaces = descriptor.topics.map(\.namespace)
        for place in topics.words(ofCall: index) {
            guard let (namespace, _) = HeaderText.cut(tokens[place].text, at: ":"), !namespaces.contains(namespace)
            else { continue }
            problem(
                place,
                "\(word): no @topic of the header is in " + PrintableText.quoted(namespace)
                    + NearestName.hint(namespaces, to: namespace))
        }
    }

    /// Checks the arguments of a call that a body has made by the worker, as far as they are literal.
    ///
    /// `place` counts the call's arguments from 1.
    private mutating func checkArguments(
        _ place: Int, of name: String, ofCall index: Int, _ word: String, added: [String] = []
    ) {
        guard let command = commands(name) else { return }
        guard let start = argument(place, ofCall: index) else {
            // A courier gives the answer alone where the body gives nothing.
            guard added.isEmpty else { return }
            return problem(index, "\(word): the arguments of \(name) are missing; {} gives none")
        }
        let isAlone = [",", ")"].contains(text(start + 1))
        let isLiteral = tokens[start].kind == .name ? ["true", "false", "nil"].contains(text(start)) : false
        if isAlone && (isLiteral || tokens[start].kind == .mark && ASCII.isDigit(tokens[start].text.utf8.first ?? 0)) {
            return problem(start, "\(word): the arguments of \(name) are a table with names, not \(text(start))")
        }
        guard tokens[start].kind == .mark, text(start) == "{" else { return }
        let table = LiteralTable(tokens, at: start)
        // A table that the body goes on with, as in `{...} or {}`, is not the argument.
        guard [",", ")"].contains(text(table.end + 1)) else { return }
        let arguments = CallArguments(table, at: start, of: command, word: word, added: added)
        for mistake in arguments.mistakes { problem(mistake.index, mistake.message) }
    }

    /// The index of the first token of a call's argument, from 1; `nil` when the call has fewer.
    private func argument(_ place: Int, ofCall index: Int) -> Int? {
        var (depth, commas, next) = (0, 0, index + 1)
        while tokens.indices.contains(next) {
            if tokens[next].kind == .mark {
                if ["(", "{", "["].contains(text(next)) { depth += 1 }
                if [")", "}", "]"].contains(text(next)) { depth -= 1 }
                if depth == 0 { return nil }
                if text(next) == "," && depth == 1 { commas += 1 }
                if commas == place - 1, depth == 1, text(next) == "," || place == 1 {
                    return tokens.indices.contains(next + 1) ? next + 1 : nil
                }
            }
            next += 1
        }
        return nil
    }

    private mutating func checkCallOut(_ index: Int) {
        guard let service = firstWord(index) else { return }
        let known = descriptor.callsOut.filter { $0.service == service }.map(\.command)
        if known.isEmpty {
            let hint = NearestName.hint(descriptor.services, to: service)
            return problem(
                index, "call_out: " + PrintableText.quoted(service) + " is in no @call_out of the header" + hint)
        }
        guard let word = word(2, ofCall: index) else { return }
        if known.contains(word) {
            return checkArguments(4, of: word, ofCall: index, "call_out", added: ["outcome", "answer"])
        }
        problem(
            index,
            "call_out: no @call_out of the header says that " + PrintableText.quoted(word) + " gets the answers of "
                + service + NearestName.hint(known, to: word))
    }

    /// The literal word that alone forms a call's argument at a position, from 0; `nil` when the argument is something
    /// else.
    private func word(_ place: Int, ofCall index: Int) -> String? {
        var (depth, commas, next) = (0, 0, index + 1)
        while tokens.indices.contains(next) {
            let token = tokens[next]
            if token.kind != .text {
                if ["(", "{", "["].contains(token.text) { depth += 1 }
                if [")", "}", "]"].contains(token.text) { depth -= 1 }
                if token.text == "," && depth == 1 { commas += 1 }
                if depth == 0 { return nil }
            } else if commas == place && depth == 1 {
                return text(next - 1) == "," && [",", ")"].contains(text(next + 1)) ? token.text : nil
            }
            next += 1
        }
        return nil
    }

    private mutating func checkFail(_ index: Int) {
        guard let code = firstWord(index), descriptor.error(code) == nil else { return }
        let names = descriptor.errors.map(\.code) + ["bad_request"]
        problem(
            index,
            "fail: " + PrintableText.quoted(code) + " is in no @errors of the header"
                + NearestName.hint(names, to: code))
    }
}
