import Core

/// Finds what a body uses that its header does not declare, without running it.
///
/// It reads names and literal words only: what a body computes is found when it runs. So it tells mistakes, and that it
/// tells none is no promise.
struct BodyChecker {
    private let descriptor: CommandDescriptor
    private let path: String
    /// Whether the text is a part: the script that includes it may not call all of its functions.
    private let isPart: Bool
    private let tokens: [LuaScanner.Token]
    private let own: Set<String>
    private var problems: [ScriptProblem] = []

    /// The names that bodies do not have, and what they have instead.
    private static let absent: [String: String] = [
        "redis": "a body reads by read() and writes by write()",
        "KEYS": "a body finds its keys as key.NAME, declared by @key",
        "ARGV": "a body finds its arguments as args.NAME, declared by @arg",
        "os": "the only clock is now_ms",
        "loadstring": "a body's code is its file", "load": "a body's code is its file",
        "_G": "there are no globals; use local", "getfenv": "there are no globals; use local",
        "setfenv": "there are no globals; use local",
    ]

    private init(_ descriptor: CommandDescriptor, _ file: ScriptFile) {
        self.descriptor = descriptor
        isPart = file != descriptor.file
        path = file.path
        tokens = LuaScanner.tokens(file.bytes)
        var own: Set<String> = []
        for (index, token) in tokens.enumerated() where token.text == "local" && token.kind == .name {
            // local a, b = ...; local function f
            var next = index + 1
            while next < tokens.count, tokens[next].kind == .name || tokens[next].text == "," {
                let isStatement = ["if", "for", "return", "local", "while", "repeat"].contains(tokens[next].text)
                if isStatement { break }
                own.insert(tokens[next].text)
                next += 1
            }
        }
        self.own = own
    }

    /// The mistakes of a script's own file and of the parts it includes, by file and line.
    static func problems(_ descriptor: CommandDescriptor) -> [ScriptProblem] {
        ([descriptor.file] + descriptor.parts).flatMap { file in
            var checker = BodyChecker(descriptor, file)
            for index in checker.tokens.indices { checker.check(index) }
            return checker.problems
        }
    }

    private mutating func problem(_ index: Int, _ message: String) {
        problems.append(ScriptProblem(file: path, line: tokens[index].line, message: message))
    }

    private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    /// The literal word that a call begins with, `f('word'`; `nil` when its first argument is something else.
    private func firstWord(_ index: Int) -> String? {
        guard text(index + 1) == "(", tokens.indices.contains(index + 2), tokens[index + 2].kind == .text else {
            return nil
        }
        return tokens[index + 2].text
    }

    private mutating func check(_ index: Int) {
        let token = tokens[index]
        guard token.kind == .name else { return }
        // A member of something, or a name in a table: { redis = 1 }.
        guard ![".", ":"].contains(text(index - 1)) || text(index - 2) == "." else { return }
        if text(index + 1) == "=" && ["{", ","].contains(text(index - 1)) { return }
        guard !own.contains(token.text) else { return }
        if !isPart { checkDeclared(index, token.text) }
        if let mend = BodyChecker.absent[token.text] { problem(index, "\(token.text) is not there: " + mend) }
        if token.text == "math" && text(index + 1) == "." && text(index + 2).hasPrefix("random") {
            problem(index, "math.\(text(index + 2)): the only chance is random, with @random")
        }
    }

    private mutating func checkDeclared(_ index: Int, _ word: String) {
        switch word {
        case "key": checkMember(index, descriptor.keys.map(\.name), "key", "@key")
        case "args":
            let made = descriptor.derived.map(\.name) + descriptor.resolved.map(\.name)
            checkMember(index, descriptor.arguments.map(\.name) + made, "args", "@arg")
        case "random" where !descriptor.usesRandom: problem(index, "random is there with @random only")
        case "write", "emit", "tell_now", "later": checkEffect(index, word)
        case "fail": checkFail(index)
        default: break
        }
    }

    private mutating func checkMember(_ index: Int, _ names: [String], _ list: String, _ tag: String) {
        guard text(index + 1) == ".", tokens.indices.contains(index + 2), tokens[index + 2].kind == .name else {
            return
        }
        let name = tokens[index + 2].text
        guard !names.contains(name) else { return }
        problem(index, "\(list).\(name) is no \(tag) of the header" + NearestName.hint(names, to: name))
    }

    private mutating func checkEffect(_ index: Int, _ word: String) {
        guard text(index + 1) == "(" else { return }
        if descriptor.isReadOnly { return problem(index, "\(word): the header says @readonly") }
        guard let first = firstWord(index) else { return }
        if word == "later" && !descriptor.calls.contains(first) {
            let hint = NearestName.hint(descriptor.calls, to: first)
            problem(index, "later: " + PrintableText.quoted(first) + " is in no @calls of the header" + hint)
        }
        guard word == "emit" || word == "tell_now", let (namespace, _) = HeaderText.cut(first, at: ":") else { return }
        let namespaces = descriptor.topics.map(\.namespace)
        if !namespaces.contains(namespace) {
            problem(
                index,
                "\(word): no @topic of the header is in " + PrintableText.quoted(namespace)
                    + NearestName.hint(namespaces, to: namespace))
        }
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
