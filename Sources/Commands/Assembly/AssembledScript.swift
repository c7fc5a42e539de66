/// A script as Redis loads it, with the source file of each of its lines.
public struct AssembledScript: Equatable, Sendable {
    /// A run of lines from one file.
    public struct Part: Equatable, Sendable {
        /// The file's path, as fault messages name it.
        public let path: String
        /// The line of the loaded text on which the run begins, from 1.
        public let firstLine: Int
        /// The number of lines in the run.
        public let lineCount: Int
    }

    /// The name in the registry.
    public let name: String
    /// The whole text.
    public let text: [UInt8]
    /// The runs, in order.
    public let parts: [Part]

    /// The lines before the author's file: line N of the loaded text is line N - `bodyLineOffset` of the file.
    public let bodyLineOffset: Int

    /// Whether it belongs to a built-in pack.
    ///
    /// It is known to compile, and most installations call few of them. So Redis gets it with its first call. The
    /// gateway's own scripts are called everywhere, and a mistake in an operator's must show at the start.
    public let isOfPack: Bool

    /// Replaces line numbers of the loaded text with file and line: `user_script:312` becomes `vote.lua:40`.
    ///
    /// Redis knows only the loaded text. Lines that come from no file stay unchanged.
    public func translate(_ fault: String) -> String {
        var result = ""
        var rest = fault
        while let cut = AssembledScript.cutNumber(rest, after: AssembledScript.mark) {
            let place = cut.number.flatMap { self.place(ofLine: $0) }
            result += cut.before + (place.map { "\($0.path):\($0.line)" } ?? AssembledScript.mark + cut.digits)
            rest = cut.after
        }
        return result + rest
    }

    /// Describes a compile error of Redis by the author's file: `vote.lua:40: '=' expected near 'x'`.
    ///
    /// Lua notices an unclosed block only behind the end of the file. In that case this names the file's last line. A
    /// message of another form stays unchanged.
    public func compileFault(_ fault: String) -> String {
        guard let own = parts.first(where: { $0.firstLine == bodyLineOffset + 1 }),
            let cut = AssembledScript.cutNumber(fault, after: AssembledScript.mark), let line = cut.number
        else { return fault }
        let place = place(ofLine: min(line, lastLine(own))) ?? (own.path, 1)
        var text = cut.after
        // "(to close 'if' at line 812)" also counts lines of the loaded text.
        if let opening = AssembledScript.cutNumber(text, after: " at line ") {
            let opened = opening.number.flatMap { self.place(ofLine: $0) }
            text = opening.before + (opened.map { " at line \($0.line)" } ?? " that holds the file") + opening.after
        }
        return "\(place.path):\(place.line)" + text
    }

    /// The last line of a run that is not empty.
    private func lastLine(_ part: Part) -> Int {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropFirst(part.firstLine - 1).prefix(part.lineCount)
        return part.firstLine + (lines.lastIndex { !$0.isEmpty } ?? lines.startIndex) - lines.startIndex
    }

    /// The word that Redis puts before the line number in the messages of every script.
    private static let mark = "user_script:"

    /// Cuts a text at a mark that a number follows.
    private static func cutNumber(
        _ text: String, after mark: String
    ) -> (before: String, digits: String, number: Int?, after: String)? {
        guard let (before, rest) = HeaderText.cut(text, at: mark) else { return nil }
        let digits = String(rest.prefix { $0.isASCII && $0.isNumber })
        return (before, digits, Int(digits), String(rest.dropFirst(digits.count)))
    }

    /// The file and line that a line of the loaded text came from; `nil` when it came from no file.
    public func place(ofLine line: Int) -> (path: String, line: Int)? {
        guard
            let part = parts.last(where: { $0.firstLine <= line }), line - part.firstLine < part.lineCount
        else { return nil }
        return (part.path, line - part.firstLine + 1)
    }
}
