import Core

/// A table as a body writes it, as far as its names and values are literal: `{shopId = args.shopId, because = 'late'}`.
struct LiteralTable {
    /// One member.
    struct Member {
        /// The name.
        let name: String
        /// The index of the token that names it.
        let index: Int
        /// The value as JSON; `nil` when it is computed.
        let json: [UInt8]?
        /// Whether the value is `nil`, so that the member is absent.
        let isAbsent: Bool
    }

    /// The members with literal names, in their order.
    private(set) var members: [Member] = []
    /// Whether these are all members: no name is computed.
    private(set) var isWhole = true
    /// The index of the first value without a name; `nil` when each has one.
    private(set) var unnamed: Int?
    /// The index of the closing brace; the number of tokens when there is none.
    private(set) var end: Int

    private let tokens: [LuaScanner.Token]

    /// Reads the table whose opening brace is the token at an index.
    init(_ tokens: [LuaScanner.Token], at start: Int) {
        self.tokens = tokens
        end = tokens.count
        var next = start + 1
        while next < tokens.count {
            if isMark(next, "}") {
                end = next
                return
            }
            let stop = fieldEnd(next)
            read(next, stop)
            next = stop < tokens.count && !isMark(stop, "}") ? stop + 1 : stop
        }
    }

    private func isMark(_ index: Int, _ text: String) -> Bool {
        tokens.indices.contains(index) && tokens[index].kind == .mark && tokens[index].text == text
    }

    /// The index of the comma, semicolon or brace that ends the field which begins at an index.
    private func fieldEnd(_ start: Int) -> Int {
        var (depth, blocks, index) = (0, 0, start)
        while index < tokens.count {
            let token = tokens[index]
            if token.kind == .name {
                // A function may have commas of its own. Words of Lua that `end` closes, of which it may have more.
                if ["function", "if", "do"].contains(token.text) { blocks += 1 }
                if token.text == "end" { blocks -= 1 }
            } else if token.kind == .mark {
                if depth == 0 && blocks == 0 && [",", ";", "}"].contains(token.text) { return index }
                if ["(", "{", "["].contains(token.text) { depth += 1 }
                if [")", "}", "]"].contains(token.text) { depth -= 1 }
            }
            index += 1
        }
        return index
    }

    private mutating func read(_ start: Int, _ stop: Int) {
        if start == stop { return }
        let isNamed = tokens[start].kind == .name && isMark(start + 1, "=") && !isMark(start + 2, "=")
        let isQuoted =
            isMark(start, "[") && start + 3 < stop && tokens[start + 1].kind == .text && isMark(start + 2, "]")
            && isMark(start + 3, "=")
        if isNamed {
            add(start, start + 2, stop)
        } else if isQuoted {
            add(start + 1, start + 4, stop)
        } else if isMark(start, "[") {
            isWhole = false
        } else {
            isWhole = false
            if unnamed == nil { unnamed = start }
        }
    }

    private mutating func add(_ name: Int, _ start: Int, _ stop: Int) {
        guard start < stop else { return }
        let isAlone = start + 1 == stop
        let isAbsent = isAlone && tokens[start].kind == .name && tokens[start].text == "nil"
        members.append(
            Member(name: tokens[name].text, index: name, json: json(start, stop), isAbsent: isAbsent))
    }

    /// The JSON of a literal text, number or boolean; `nil` for everything else.
    private func json(_ start: Int, _ stop: Int) -> [UInt8]? {
        let isNegative = isMark(start, "-")
        let first = isNegative ? start + 1 : start
        guard first + 1 == stop else { return nil }
        let token = tokens[first]
        switch token.kind {
        case .text where !isNegative && !token.text.contains("\\"):
            var json: [UInt8] = []
            json.append(jsonString: token.text)
            return json
        case .name where !isNegative && ["true", "false"].contains(token.text):
            return Array(token.text.utf8)
        case .mark:
            // Lua reads 0x10 as well, and JSON does not.
            let text = (isNegative ? "-" : "") + token.text
            let isNumber = (try? JSON(parsing: Array(text.utf8), limits: LiteralTable.limits))?.root.kind == .number
            return isNumber ? Array(text.utf8) : nil
        case .text, .name: return nil
        }
    }

    private static let limits = JSON.Limits(depthMax: 0, elementsMax: 1)
}
