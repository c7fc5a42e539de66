/// The literal words that the topics of a call begin with, as far as the text of its file shows them.
///
/// A topic stands in the call itself, `emit('shop:' .. args.shopId, ...)`, or in a variable that the call names:
/// `topics[index] = 'user:' .. user`.
///
/// A variable that the file declares more than once is ignored, since only running the text could distinguish its uses.
struct TopicWords {
    private let tokens: [LuaScanner.Token]
    /// The number of the file's declarations of each name.
    private let declarations: [String: Int]

    init(_ text: LuaText) {
        (tokens, declarations) = (text.tokens, text.declarations)
    }

    /// The places of the words that begin the topics of a call; empty when the topics are computed in another way.
    ///
    /// - Parameter index: the place of the call's name. The topic, or the list of topics, is the first argument.
    func words(ofCall index: Int) -> [Int] {
        guard text(index + 1) == "(" else { return [] }
        let first = index + 2
        guard kind(first) == .name else { return words(at: first) }
        guard text(first + 1) == ",", declarations[text(first)] == 1 else { return [] }
        return tokens.indices.flatMap { text($0) == text(first) && kind($0) == .name ? assigned(at: $0) : [] }
    }

    private func text(_ index: Int) -> String { tokens.indices.contains(index) ? tokens[index].text : "" }

    private func kind(_ index: Int) -> LuaScanner.Kind? { tokens.indices.contains(index) ? tokens[index].kind : nil }

    /// The word at a place, or the words that begin the elements of a table there.
    private func words(at index: Int) -> [Int] {
        if kind(index) == .text { return [index] }
        guard kind(index) == .mark, text(index) == "{" else { return [] }
        return elements(from: index).filter { kind($0) == .text }
    }

    /// The words in an assignment to the variable at a place: `topics = {...}`, `topics[n] = '...'`,
    /// `table.insert(topics, '...')`.
    private func assigned(at index: Int) -> [Int] {
        if text(index - 1) == "." { return [] }
        if text(index - 1) == "(", text(index - 2) == "insert", text(index - 4) == "table" {
            // The value is the last argument; a position may stand before it.
            return elements(from: index - 1).last.map { words(at: $0) } ?? []
        }
        let equals = text(index + 1) == "[" ? end(of: index + 1) + 1 : index + 1
        guard kind(equals) == .mark, text(equals) == "=", text(equals + 1) != "=" else { return [] }
        return words(at: equals + 1)
    }

    /// The places where the elements of a table or the arguments of a call begin; their bracket opens at `open`.
    private func elements(from open: Int) -> [Int] {
        var (depth, starts) = (0, [Int]())
        for index in open..<end(of: open) {
            let isMark = kind(index) == .mark
            if isMark && ["(", "{", "["].contains(text(index)) { depth += 1 }
            if isMark && [")", "}", "]"].contains(text(index)) { depth -= 1 }
            if depth == 1 && (index == open || isMark && [",", ";"].contains(text(index))) { starts.append(index + 1) }
        }
        return starts
    }

    /// The place of the bracket that closes the one at a place; the end of the text when there is none.
    private func end(of open: Int) -> Int {
        var depth = 0
        for index in open..<tokens.count where tokens[index].kind == .mark {
            if ["(", "{", "["].contains(tokens[index].text) { depth += 1 }
            if [")", "}", "]"].contains(tokens[index].text) { depth -= 1 }
            if depth == 0 { return index }
        }
        return tokens.count
    }
}
