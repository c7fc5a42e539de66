import Core

/// The expressions that several of the gateway's own scripts share, from `core/format.lua`.
///
/// A script uses one as `inline.NAME(ARGUMENT, ...)`, and Redis gets the template's text in its place: a function would
/// cost each call a thousand instructions. Only files of the core pack may use templates.
struct ScriptTemplates {
    /// A template: the pieces of its text, with the places of its arguments between them.
    private struct Template {
        enum Piece {
            case text([UInt8])
            /// An argument by its number. `takesJoin`: a join (`a .. b`) keeps its meaning at this place.
            case argument(Int, takesJoin: Bool)

            func isArgument(_ number: Int) -> Bool {
                if case .argument(number, _) = self { true } else { false }
            }
        }

        let parameters: [String]
        let pieces: [Piece]
    }

    private var templates: [String: Template] = [:]

    /// Reads the file, lines of `-- @inline NAME PARAMETER... = TEXT` among comments, and appends its problems.
    init(_ file: ScriptFile, problems: inout [ScriptProblem]) {
        let lines = file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let text = String(decoding: line, as: UTF8.self)
            guard let message = read(text) else { continue }
            problems.append(ScriptProblem(file: file.path, line: index + 1, message: message))
        }
    }

    /// Reads a line; returns a problem, or `nil`.
    private mutating func read(_ line: String) -> String? {
        let form = "a template is written \"-- @inline NAME PARAMETER... = TEXT\""
        guard line.hasPrefix("-- @") else { return line.hasPrefix("--") ? nil : form }
        guard line.hasPrefix("-- @inline "), let (head, text) = HeaderText.cut(line, at: " = ") else { return form }
        let words = head.dropFirst("-- @inline ".count).split(separator: " ").map { String($0) }
        guard let name = words.first, words.count > 1, words.allSatisfy(ScriptTemplates.isName) else { return form }
        let parameters = Array(words.dropFirst())
        guard templates[name] == nil else { return "\(name) is given twice" }
        guard Set(parameters).count == parameters.count else { return "\(name) has a parameter twice" }
        let pieces = ScriptTemplates.pieces(Array(text.utf8), parameters)
        for (number, parameter) in parameters.enumerated() where !pieces.contains(where: { $0.isArgument(number) }) {
            return "\(name) does not use its parameter \(parameter)"
        }
        templates[name] = Template(parameters: parameters, pieces: pieces)
        return nil
    }

    private static func pieces(_ text: [UInt8], _ parameters: [String]) -> [Template.Piece] {
        let tokens = LuaScanner.tokens(text)
        var pieces: [Template.Piece] = []
        var place = 0
        for (index, token) in tokens.enumerated() where token.kind == .name {
            guard let number = parameters.firstIndex(of: token.text) else { continue }
            pieces.append(.text(Array(text[place..<token.start])))
            let (before, after) = (index > 0 ? tokens[index - 1] : nil, tokens.dropFirst(index + 1).first)
            let takesJoin = [before, after].allSatisfy { $0.map { $0.text == "." || $0.text == "," } ?? true }
            pieces.append(.argument(number, takesJoin: takesJoin))
            place = token.start + token.text.utf8.count
        }
        return pieces + [.text(Array(text[place...]))]
    }

    private static func isName(_ word: String) -> Bool {
        let tokens = LuaScanner.tokens(Array(word.utf8))
        return tokens.count == 1 && tokens[0].kind == .name && tokens[0].text == word
    }

    /// A file with the templates' texts in place of their uses, outside comments and texts.
    ///
    /// Appends a problem for each use that is no `inline.NAME(ARGUMENT, ...)`. The lines stay as they are. A file of
    /// another pack is returned unchanged.
    ///
    /// *Complexity*: linear in the text.
    func expanded(in file: ScriptFile, _ problems: inout [ScriptProblem]) -> ScriptFile {
        guard file.pack == ScriptFile.corePack, ScriptTemplates.mayUse(file.bytes) else { return file }
        let tokens = LuaScanner.tokens(file.bytes)
        var bytes: [UInt8] = []
        var place = 0
        for (index, token) in tokens.enumerated()
        where token.kind == .name && token.text == "inline" && token.start >= place {
            switch use(tokens[index...], file.bytes) {
            case .success(let (text, end)):
                bytes += file.bytes[place..<token.start]
                bytes += text
                place = end
            case .failure(let fault):
                problems.append(ScriptProblem(file: file.path, line: token.line, message: fault.message))
            }
        }
        bytes += file.bytes[place...]
        return ScriptFile(name: file.name, path: file.path, bytes: bytes, pack: file.pack)
    }

    private struct Fault: Error {
        let message: String
    }

    /// The text in place of a use that begins with `tokens`, and the place behind that use.
    private func use(_ tokens: ArraySlice<LuaScanner.Token>, _ bytes: [UInt8]) -> Result<
        (text: [UInt8], end: Int), Fault
    > {
        func fault(_ message: String) -> Result<(text: [UInt8], end: Int), Fault> { .failure(Fault(message: message)) }
        let line = tokens.prefix { $0.line == tokens.first?.line }
        guard let use = TemplateUse(line, bytes) else {
            return fault("a template is used as inline.NAME(ARGUMENT, ...), on one line")
        }
        guard let template = templates[use.name] else {
            return fault("there is no template \(use.name)" + NearestName.hint(templates.keys.sorted(), to: use.name))
        }
        guard use.arguments.count == template.parameters.count else {
            let wanted = template.parameters.joined(separator: ", ")
            return fault("inline.\(use.name) takes (\(wanted)), not \(use.arguments.count) arguments")
        }
        var text: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .text(let own): text += own
            case .argument(let number, let takesJoin):
                let argument = use.arguments[number]
                guard argument.isSimple, takesJoin || !argument.isJoin else {
                    let allowed =
                        takesJoin ? "a name, a field, a literal or a join of them" : "a name, a field or a literal"
                    return fault("inline.\(use.name): \(template.parameters[number]) must be \(allowed)")
                }
                text += argument.text
            }
        }
        return .success((ScriptTemplates.folded(text), use.end))
    }

    /// A text with adjacent literals (`'a' .. 'b'`) made one.
    private static func folded(_ text: [UInt8]) -> [UInt8] {
        let tokens = LuaScanner.tokens(text)
        var result: [UInt8] = []
        var place = 0
        for index in tokens.indices.dropLast(3) {
            let (left, right) = (tokens[index], tokens[index + 3])
            guard left.kind == .text, right.kind == .text, tokens[index + 1].text == ".", tokens[index + 2].text == ".",
                text[left.start] == UInt8(ascii: "'"), text[right.start] == UInt8(ascii: "'")
            else { continue }
            // A digit would go on with an escape of digits, such as \1.
            if left.text.contains("\\"), right.text.utf8.first.map(ASCII.isDigit) == true { continue }
            result += text[place..<left.start + 1 + left.text.utf8.count]
            place = right.start + 1
        }
        return result + text[place...]
    }

    /// Whether a text has the word: most files have none, and are not cut into tokens.
    private static func mayUse(_ text: [UInt8]) -> Bool {
        let word = Array("inline".utf8)
        return text.indices.contains { text[$0] == word[0] && text[$0...].starts(with: word) }
    }
}
