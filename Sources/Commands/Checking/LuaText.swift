/// The Lua text of a file as checks read it: its tokens, and the names that it declares.
struct LuaText {
    /// The path of the file, as problems name it.
    let path: String
    /// The text without space and comments.
    let tokens: [LuaScanner.Token]
    /// The number of declarations of each name: variables, functions and parameters, in any scope.
    let declarations: [String: Int]

    /// *Complexity*: linear in the text.
    init(_ file: ScriptFile) {
        path = file.path
        tokens = LuaScanner.tokens(file.bytes)
        declarations = LuaText.declared(tokens).reduce(into: [:]) { $0[$1.text, default: 0] += 1 }
    }

    /// The names that a text declares, in their order: variables, functions and parameters, in any scope.
    static func declared(_ tokens: [LuaScanner.Token]) -> [LuaScanner.Token] {
        var names: [LuaScanner.Token] = []
        func take(from index: Int) {
            var next = index
            while next < tokens.count, tokens[next].kind == .name {
                names.append(tokens[next])
                guard next + 1 < tokens.count, tokens[next + 1].text == "," else { return }
                next += 2
            }
        }
        for (index, token) in tokens.enumerated() where token.kind == .name {
            let isFunction = index + 1 < tokens.count && tokens[index + 1].text == "function"
            switch token.text {
            case "local": take(from: isFunction ? index + 2 : index + 1)
            case "for": take(from: index + 1)
            case "function":
                // function (a, b), or local function name(a, b)
                let isNamed = index + 1 < tokens.count && tokens[index + 1].kind == .name
                take(from: isNamed ? index + 3 : index + 2)
            default: break
            }
        }
        return names
    }
}
