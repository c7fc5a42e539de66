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
        let mark = "user_script:"
        var result = ""
        var rest = fault
        while let (before, after) = HeaderText.cut(rest, at: mark) {
            let digits = after.prefix { $0.isASCII && $0.isNumber }
            let place = Int(digits).flatMap { self.place(ofLine: $0) }
            result += before + (place.map { "\($0.path):\($0.line)" } ?? mark + digits)
            rest = String(after.dropFirst(digits.count))
        }
        return result + rest
    }

    /// The file and line that a line of the loaded text came from; `nil` when it came from no file.
    public func place(ofLine line: Int) -> (path: String, line: Int)? {
        guard
            let part = parts.last(where: { $0.firstLine <= line }), line - part.firstLine < part.lineCount
        else { return nil }
        return (part.path, line - part.firstLine + 1)
    }
}
