import Core

/// The numbers that the scripts of built-in packs share, from each pack's `constants.lua`.
///
/// Scripts use a number by its name, and Redis gets the number in place of the name. Those of `core` serve all packs.
struct ScriptConstants {
    /// The numbers as they are written, by pack and name.
    private var numbers: [String: [String: String]] = [:]
    /// The names of all packs.
    private var names: Set<ArraySlice<UInt8>> = []
    /// The numbers that an operator may choose, with what is allowed: those whose meaning ends with `(A..B)`.
    private var choices: [String: [String: ClosedRange<Int>]] = [:]

    /// Reads the packs' files, lines of `NAME = number -- meaning`, and appends their problems.
    init(_ files: [ScriptFile], problems: inout [ScriptProblem]) {
        for file in files.filter({ $0.pack == ScriptFile.corePack }) { read(file, &problems) }
        for file in files.filter({ $0.pack != ScriptFile.corePack }) { read(file, &problems) }
    }

    private mutating func read(_ file: ScriptFile, _ problems: inout [ScriptProblem]) {
        let lines = file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.starts(with: "--".utf8) {
            func problem(_ message: String) {
                problems.append(ScriptProblem(file: file.path, line: index + 1, message: message))
            }
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 4).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count == 5, words[1] == "=", words[3] == "--", ScriptConstants.isName(words[0]),
                ScriptConstants.isNumber(words[2])
            else {
                problem("a constant is written \"NAME = number -- meaning\"")
                continue
            }
            guard number(words[0], pack: file.pack) == nil else {
                problem("\(words[0]) is given twice, in this file or in core/constants.lua")
                continue
            }
            numbers[file.pack, default: [:]][words[0]] = words[2]
            names.insert(Array(words[0].utf8)[...])
            choices[file.pack, default: [:]][words[0]] = ScriptConstants.choice(words[4])
        }
    }

    /// Takes the numbers that an operator has chosen, `PACK.NAME=NUMBER` each; appends the problems.
    mutating func choose(_ chosen: [String], problems: inout [ScriptProblem]) {
        for text in chosen {
            func problem(_ message: String) {
                problems.append(ScriptProblem(file: "--pack-number", line: 1, message: message))
            }
            guard let (place, value) = HeaderText.cut(text, at: "="), let (pack, name) = HeaderText.cut(place, at: "."),
                let number = ASCII.decimal(Array(value.utf8))
            else {
                problem("expected PACK.NAME=NUMBER; got " + PrintableText.quoted(text))
                continue
            }
            guard let range = choices[pack]?[name] else {
                let known = choices.flatMap { pack, names in names.keys.map { pack + "." + $0 } }.sorted()
                let hint = NearestName.hint(known, to: place)
                problem(
                    PrintableText.quoted(place) + " is no number that may be chosen"
                        + (hint.isEmpty ? "; there are " + known.joined(separator: ", ") : hint))
                continue
            }
            guard range.contains(number) else {
                problem("\(place) is \(range.lowerBound) to \(range.upperBound)")
                continue
            }
            numbers[pack]?[name] = "\(number)"
        }
    }

    /// The range at the end of a number's meaning; `nil` for a number that nobody chooses.
    private static func choice(_ meaning: String) -> ClosedRange<Int>? {
        guard meaning.hasSuffix(")"), let open = meaning.lastIndex(of: "("),
            let (low, high) = HeaderText.cut(String(meaning[open...].dropFirst().dropLast()), at: ".."),
            let low = ASCII.decimal(Array(low.utf8)), let high = ASCII.decimal(Array(high.utf8)), low <= high
        else { return nil }
        return low...high
    }

    /// A shared number as it is written, for a script of a pack; `nil` when the name is none.
    func number(_ name: String, pack: String) -> String? {
        numbers[pack]?[name] ?? numbers[ScriptFile.corePack]?[name]
    }

    /// A file of a pack with numbers in place of their names, outside comments and texts.
    ///
    /// Appends a problem for each declaration of such a name. The lines stay as they are. A file of no pack, such as an
    /// operator's, is returned unchanged.
    ///
    /// *Complexity*: linear in the text.
    func replaced(in file: ScriptFile, _ problems: inout [ScriptProblem]) -> ScriptFile {
        guard !file.pack.isEmpty, mayUse(file.bytes) else { return file }
        let file = ranged(file)
        let tokens = LuaScanner.tokens(file.bytes)
        for name in LuaText.declared(tokens) where number(name.text, pack: file.pack) != nil {
            let message = "\(name.text) is a constant that packs share (constants.lua); give this one another name"
            problems.append(ScriptProblem(file: file.path, line: name.line, message: message))
        }
        var bytes: [UInt8] = []
        var place = 0
        for token in tokens where token.kind == .name {
            guard let number = number(token.text, pack: file.pack) else { continue }
            bytes += file.bytes[place..<token.start]
            bytes += number.utf8
            place = token.start + token.text.utf8.count
        }
        bytes += file.bytes[place...]
        return ScriptFile(name: file.name, path: file.path, bytes: bytes, pack: file.pack)
    }

    /// A file with numbers in place of the names that end a range of an argument, as in `string 1..TEXT_MAX`.
    private func ranged(_ file: ScriptFile) -> ScriptFile {
        let newline = UInt8(ascii: "\n")
        var lines = file.bytes.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) }
        for index in lines.indices {
            guard lines[index].starts(with: "--".utf8) else { break }
            guard lines[index].starts(with: "-- @arg".utf8) else { continue }
            var words = lines[index].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            for place in words.indices {
                guard let (low, high) = HeaderText.cut(words[place], at: ".."),
                    let number = number(high, pack: file.pack)
                else { continue }
                words[place] = low + ".." + number
            }
            lines[index] = Array(words.joined(separator: " ").utf8)
        }
        return ScriptFile(
            name: file.name, path: file.path, bytes: Array(lines.joined(separator: [newline])), pack: file.pack)
    }

    /// Whether a name stands anywhere in a text: most files have none, and are not cut into tokens.
    private func mayUse(_ text: [UInt8]) -> Bool {
        text.split { !ScriptConstants.isOfName($0) }.contains { names.contains($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        ASCII.isUpper(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_")
    }

    /// Whether a word is a constant's name: capital letters, digits and `_`, with a letter first.
    private static func isName(_ word: String) -> Bool {
        word.utf8.first.map(ASCII.isUpper) == true && word.utf8.allSatisfy(isOfName)
    }

    /// Whether a word is a decimal number of digits, with a point between some.
    private static func isNumber(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { ASCII.isDigit($0) } }
    }
}
