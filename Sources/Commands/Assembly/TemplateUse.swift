/// A use of a template in a script: `inline.NAME(ARGUMENT, ...)`.
struct TemplateUse {
    /// An argument as it is written.
    struct Argument {
        /// Its bytes.
        let text: [UInt8]
        /// Whether it consists of names, fields and literals alone, joined by `..`.
        let isSimple: Bool
        /// Whether a `..` stands in it.
        let isJoin: Bool
    }

    /// The template's name.
    let name: String
    /// The arguments, in order.
    let arguments: [Argument]
    /// The place behind the closing bracket, in the script's bytes.
    let end: Int

    /// Reads the tokens of a line from the word `inline` on; `nil` when they have another form.
    init?(_ tokens: ArraySlice<LuaScanner.Token>, _ bytes: [UInt8]) {
        let head = tokens.prefix(4)
        guard head.count == 4,
            head.map(\.text).enumerated().allSatisfy({ $0 == 2 || ["inline", ".", "", "("][$0] == $1 }),
            head[head.startIndex + 2].kind == .name
        else { return nil }
        name = head[head.startIndex + 2].text
        var arguments: [Argument] = []
        var depth = 0
        var first = head.endIndex
        for index in head.endIndex..<tokens.endIndex where tokens[index].kind == .mark {
            let mark = tokens[index].text
            let isEnd = mark == ")" && depth == 0
            if isEnd || mark == "," && depth == 0 {
                arguments.append(TemplateUse.argument(tokens[first..<index], upTo: tokens[index].start, bytes))
                first = index + 1
            }
            if isEnd {
                self.arguments = arguments
                end = tokens[index].start + 1
                return
            }
            if ["(", "{", "["].contains(mark) { depth += 1 }
            if [")", "}", "]"].contains(mark) { depth -= 1 }
        }
        return nil
    }

    private static func argument(
        _ tokens: ArraySlice<LuaScanner.Token>, upTo end: Int, _ bytes: [UInt8]
    ) -> Argument {
        var text = bytes[(tokens.first?.start ?? end)..<end]
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        var rest = tokens
        var isSimple = takeOperand(&rest)
        var isJoin = false
        while isSimple, !rest.isEmpty {
            isJoin = true
            isSimple = take("..", &rest) && takeOperand(&rest)
        }
        return Argument(text: Array(text), isSimple: isSimple, isJoin: isJoin)
    }

    /// Takes a name, a field, a literal, or a choice of two in brackets: `(a.b or 'c')`.
    private static func takeOperand(_ tokens: inout ArraySlice<LuaScanner.Token>) -> Bool {
        guard let first = tokens.popFirst() else { return false }
        switch first.kind {
        case .text: return true
        case .mark where first.text == "(":
            guard takeOperand(&tokens), let word = tokens.popFirst(), word.kind == .name, word.text == "or" else {
                return false
            }
            return takeOperand(&tokens) && take(")", &tokens)
        case .mark: return first.text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        case .name:
            while tokens.first?.text == ".", tokens.dropFirst().first?.kind == .name { tokens.removeFirst(2) }
            return true
        }
    }

    /// Takes a mark; each of its bytes is a token.
    private static func take(_ mark: String, _ tokens: inout ArraySlice<LuaScanner.Token>) -> Bool {
        for byte in mark {
            guard let next = tokens.popFirst(), next.kind == .mark, next.text == String(byte) else { return false }
        }
        return true
    }
}
