import Core

/// Reads `NAME TYPE [optional | = DEFAULT] [fold lower | fold pair] [as WIRE] [-- description]`.
enum ArgumentReader {
    /// The most characters a string may be declared with.
    private static let charactersMax = 65_536
    /// The most bytes JSON may be declared with.
    private static let jsonBytesMax = 65_536
    /// The most ids a list may be declared with.
    private static let idsMax = 1_000

    static func read(_ text: String) throws(HeaderFault) -> ArgumentDeclaration {
        let parts = HeaderText.cut(text, at: " -- ")
        var words = HeaderText.words(parts.map(\.before) ?? text)[...]
        guard let name = words.popFirst(), let word = words.popFirst() else {
            throw HeaderFault("expected a name and a type, e.g. shopId id")
        }
        guard HeaderText.isName(name, capitals: true), !HeaderText.luaWords.contains(name) else {
            throw HeaderFault(
                "an argument's name is a lower-case letter, then at most 63 of A-Z a-z 0-9, and no word of Lua")
        }
        guard name != "id" && name != "ref" else {
            let mend = name == "id" ? ", e.g. itemId as id" : ", e.g. shopId"
            throw HeaderFault("\(name) is the operation's own; choose another name" + mend)
        }
        let type = try type(word, &words)
        let wire = try wire(&words) ?? name
        let fold = try fold(type, &words)
        return ArgumentDeclaration(
            name: name, wire: wire, type: type, presence: try presence(type, words, fold), fold: fold,
            text: parts.map { HeaderText.trimmed($0.after) } ?? "")
    }

    /// Takes `as WIRE` from the end; `nil` when there is none.
    private static func wire(_ words: inout ArraySlice<String>) throws(HeaderFault) -> String? {
        if words.last == "as" { throw HeaderFault("as needs the name that clients send, e.g. as join_code") }
        guard let name = words.last, words.dropLast().last == "as" else { return nil }
        words.removeLast(2)
        guard HeaderText.isWireName(name) else {
            throw HeaderFault(
                "after as: a lower-case letter, then at most 63 of A-Z a-z 0-9 _; got " + PrintableText.quoted(name))
        }
        guard name != "ref" else { throw HeaderFault("ref names a client's message; no argument is called so") }
        return name
    }

    /// Takes `fold lower` or `fold pair` from the end.
    private static func fold(
        _ type: ArgumentType, _ words: inout ArraySlice<String>
    ) throws(HeaderFault) -> ArgumentFold? {
        guard words.last != "fold" else { throw HeaderFault("expected fold lower or fold pair") }
        guard words.dropLast().last == "fold" else { return nil }
        guard let fold = words.last.flatMap({ ArgumentFold(rawValue: $0) }) else {
            throw HeaderFault("expected fold lower or fold pair; there is no other way to fold")
        }
        words.removeLast(2)
        switch (fold, type) {
        case (.lower, .id), (.lower, .user), (.lower, .string), (.lower, .ids), (.pair, .id): return fold
        case (.lower, .choice(let choices)):
            guard choices.allSatisfy({ !$0.utf8.contains(where: ASCII.isUpper) }) else {
                throw HeaderFault("with fold lower no choice may have a capital: it could never be given")
            }
            return fold
        case (.pair, _): throw HeaderFault("fold pair is for id, not for \(type.word)")
        default: throw HeaderFault("fold lower is for id, user, string, enum and ids, not for \(type.word)")
        }
    }

    private static func type(_ word: String, _ words: inout ArraySlice<String>) throws(HeaderFault) -> ArgumentType {
        switch word {
        case "id": return .id
        case "user": return .user
        case "bool": return .bool
        case "time": return .time
        case "string": return .string(try range(words.popFirst(), "string", 0...charactersMax))
        case "int": return .int(try range(words.popFirst(), "int", ArgumentType.integers))
        case "ids": return .ids(try range(words.popFirst(), "ids", 0...idsMax))
        case "number":
            guard let next = words.first, let (low, high) = HeaderText.cut(next, at: "..") else { return .number(nil) }
            words.removeFirst()
            guard let low = number(low), let high = number(high), low <= high else {
                throw HeaderFault("expected number A..B, e.g. number -90..90")
            }
            return .number(low...high)
        case "enum": return .choice(try choices(words.popFirst()))
        case "json":
            guard let bytes = words.popFirst().flatMap({ ASCII.decimal(Array($0.utf8)) }),
                let depth = words.popFirst().flatMap({ ASCII.decimal(Array($0.utf8)) }),
                (1...jsonBytesMax).contains(bytes), (0...32).contains(depth)
            else { throw HeaderFault("expected json BYTES DEPTH, at most \(jsonBytesMax) bytes and 32 levels") }
            return .json(bytesMax: bytes, depthMax: depth)
        default:
            throw HeaderFault(
                PrintableText.quoted(word) + " is no type; the types are " + ArgumentType.words.joined(separator: ", ")
                    + NearestName.hint(ArgumentType.words, to: word))
        }
    }

    private static func range(
        _ text: String?, _ word: String, _ limits: ClosedRange<Int>
    ) throws(HeaderFault) -> ClosedRange<Int> {
        guard let text, let (low, high) = HeaderText.cut(text, at: ".."),
            let low = ASCII.signedDecimal(Array(low.utf8)), let high = ASCII.signedDecimal(Array(high.utf8)),
            low <= high, limits.contains(low), limits.contains(high)
        else {
            throw HeaderFault("expected \(word) A..B within \(limits.lowerBound)..\(limits.upperBound)")
        }
        return low...high
    }

    private static func number(_ text: String) -> Double? {
        (try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 0, elementsMax: 1)))?.root.double
    }

    private static func choices(_ text: String?) throws(HeaderFault) -> [String] {
        let choices = text.map { HeaderText.list($0) } ?? []
        let areWords = choices.allSatisfy { choice in
            (1...64).contains(choice.utf8.count)
                && choice.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._-".utf8.contains($0) }
        }
        guard !choices.isEmpty, areWords, Set(choices).count == choices.count else {
            throw HeaderFault("expected enum a,b,c: different words of A-Z a-z 0-9 . _ -, without spaces")
        }
        return choices
    }

    private static func presence(
        _ type: ArgumentType, _ words: ArraySlice<String>, _ fold: ArgumentFold?
    ) throws(HeaderFault) -> ArgumentDeclaration.Presence {
        guard let first = words.first else { return .required }
        if first == "optional" && words.count == 1 { return .optional }
        guard first == "=" else {
            throw HeaderFault(
                "unexpected " + PrintableText.quoted(first)
                    + " after the type; only optional or = DEFAULT, then fold lower, then as NAME, then -- text"
                    + NearestName.hint(["optional", "fold", "as"], to: first))
        }
        switch type {
        case .user, .ids, .time: throw HeaderFault("an argument of type \(type.word) has no default")
        case .id, .string, .int, .number, .choice, .bool, .json: break
        }
        let text = words.dropFirst().joined(separator: " ")
        let given = Array(text.utf8)
        guard let value = type.argument(ofText: fold?.folded(given) ?? given) else {
            throw HeaderFault("the default must be " + type.expectation)
        }
        return .byDefault(value)
    }
}
