import Core

/// The files in front of one kind of scripts, with the parts that a script may omit.
///
/// Lines between `-- @only NAME...` and `-- @end` are included for scripts that use one of the names. For all others
/// these lines are empty. Each function that is not created makes every call of the script cheaper, and line numbers
/// stay the same.
struct SharedTexts {
    private struct Piece {
        let file: Int
        /// The lines, and as many empty lines for scripts that omit them.
        let text, blank: [UInt8]
        /// The names that include the piece when a script uses one; empty: the piece is always included.
        let names: Set<ArraySlice<UInt8>>
        /// The names of other pieces that this piece uses.
        var mentions: Set<ArraySlice<UInt8>> = []
    }

    private let paths: [String]
    private var pieces: [Piece] = []
    /// The names of all pieces.
    private var names: Set<ArraySlice<UInt8>> = []
    /// The names that always-included pieces use.
    private var always: Set<ArraySlice<UInt8>> = []

    /// Reads files, in the order in which they stand.
    init(_ files: [ScriptFile]) {
        paths = files.map(\.path)
        for (number, file) in files.enumerated() { read(file.bytes, number) }
        for index in pieces.indices {
            let found = named(pieces[index].text)
            pieces[index].mentions = found
            if pieces[index].names.isEmpty { always.formUnion(found) }
        }
    }

    private mutating func read(_ bytes: [UInt8], _ file: Int) {
        var lines: [ArraySlice<UInt8>] = []
        var wanted: Set<ArraySlice<UInt8>> = []
        func end(_ pieces: inout [Piece]) {
            let blank = [UInt8](repeating: SharedTexts.newline, count: max(0, lines.count - 1))
            let text = Array(lines.joined(separator: [SharedTexts.newline]))
            if !lines.isEmpty { pieces.append(Piece(file: file, text: text, blank: blank, names: wanted)) }
            lines = []
            wanted = []
        }
        for line in bytes.split(separator: SharedTexts.newline, omittingEmptySubsequences: false) {
            if line.starts(with: SharedTexts.opening) {
                end(&pieces)
                wanted = Set(line.dropFirst(SharedTexts.opening.count).split(separator: UInt8(ascii: " ")))
                names.formUnion(wanted)
            }
            lines.append(line)
            if line.elementsEqual("-- @end".utf8) { end(&pieces) }
        }
        end(&pieces)
    }

    /// The files' texts for a script whose other text is `own`.
    func texts(for own: [UInt8]) -> [(path: String, bytes: [UInt8])] {
        var needed = always
        needed.formUnion(named(own, mayHideCode: SharedTexts.hasLongText(own)))
        // A piece that is included may use further names.
        var count = -1
        while count != needed.count {
            count = needed.count
            for piece in pieces where !piece.names.isDisjoint(with: needed) { needed.formUnion(piece.mentions) }
        }
        var texts = paths.map { (path: $0, bytes: [UInt8]()) }
        var isFirst = paths.map { _ in true }
        for piece in pieces {
            if !isFirst[piece.file] { texts[piece.file].bytes.append(SharedTexts.newline) }
            isFirst[piece.file] = false
            let isThere = piece.names.isEmpty || !piece.names.isDisjoint(with: needed)
            texts[piece.file].bytes += isThere ? piece.text : piece.blank
        }
        return texts
    }

    /// The names of pieces that a Lua text uses.
    ///
    /// A line that begins with `--` uses no name. `mayHideCode` is for text with a long string or long comment, which
    /// may end in such a line; then every line counts.
    private func named(_ text: [UInt8], mayHideCode: Bool = false) -> Set<ArraySlice<UInt8>> {
        var found: Set<ArraySlice<UInt8>> = []
        for line in text.split(separator: SharedTexts.newline) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if !mayHideCode, text.starts(with: "--".utf8) { continue }
            for word in text.split(whereSeparator: { !SharedTexts.isOfWord($0) }) where names.contains(word) {
                found.insert(word)
            }
        }
        return found
    }

    /// Whether a long string or long comment (`[[` or `[=`) begins anywhere.
    private static func hasLongText(_ text: [UInt8]) -> Bool {
        zip(text, text.dropFirst()).contains {
            $0 == UInt8(ascii: "[") && ($1 == UInt8(ascii: "[") || $1 == UInt8(ascii: "="))
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_")
    }

    private static let opening = Array("-- @only ".utf8)
    private static let newline = UInt8(ascii: "\n")
}
