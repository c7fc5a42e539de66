/// A script as it is loaded, and which of its lines came from where.
public struct AssembledScript: Equatable, Sendable {
    /// A run of lines of one origin.
    public struct Part: Equatable, Sendable {
        /// What the lines are told as: a file's path.
        public let path: String
        /// Where the run begins in the loaded text, from 1.
        public let firstLine: Int
        /// How many lines it has.
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

    /// Tells the lines of a fault by the files they came from: `user_script:312` becomes `vote.lua:40`.
    ///
    /// Redis knows only the loaded text. Lines of no file stay as they are.
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

    /// Tells why Redis does not compile the script, by the author's file: `vote.lua:40: '=' expected near 'x'`.
    ///
    /// What the file leaves open is noticed behind its end; then its last line is told. What is no such message stays
    /// as it is.
    public func compileFault(_ fault: String) -> String {
        guard let own = parts.first(where: { $0.firstLine == bodyLineOffset + 1 }),
            let cut = AssembledScript.cutNumber(fault, after: AssembledScript.mark), let line = cut.number
        else { return fault }
        let place = place(ofLine: min(line, lastLine(own))) ?? (own.path, 1)
        var text = cut.after
        // "(to close 'if' at line 812)": of the loaded text, too.
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

    /// What Redis calls every script in its messages, before the line.
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
