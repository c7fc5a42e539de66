/// A script's text under construction: pieces, each ended by a newline, and the line ranges of the files among them.
struct ScriptText {
    private(set) var text: [UInt8] = []
    private(set) var parts: [AssembledScript.Part] = []
    private(set) var lineCount = 0
    /// The text without the lines that only hide names.
    private(set) var naming: [UInt8] = []

    /// Appends a file.
    mutating func append(_ bytes: [UInt8], path: String) {
        let first = lineCount + 1
        append(bytes)
        parts.append(AssembledScript.Part(path: path, firstLine: first, lineCount: lineCount - first + 1))
    }

    /// Appends lines of no file.
    mutating func append(lines: [String]) {
        for line in lines { append(Array(line.utf8)) }
    }

    /// Appends a line that hides names from the rest of a function.
    mutating func hide(_ names: String) {
        text += Array("local \(names)\n".utf8)
        lineCount += 1
    }

    private mutating func append(_ bytes: [UInt8]) {
        text += bytes
        text.append(UInt8(ascii: "\n"))
        naming += bytes
        naming.append(UInt8(ascii: "\n"))
        lineCount += 1 + bytes.count { $0 == UInt8(ascii: "\n") }
    }
}
