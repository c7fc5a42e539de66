/// Gathers one line at a time and refuses every byte that is not allowed in one, at that byte.
///
/// Lines end with CR LF and nothing else. At a lone LF or CR two parsers may see different lines, so the tolerance that
/// RFC 9112 section 2.2 allows is not used. Bytes are bounded before they are stored. Running time is linear in the
/// input however it is cut.
struct HTTPLineReader: Sendable {
    /// The result of reading.
    enum Outcome {
        /// The input is used up; the line is not.
        case unfinished
        /// The line is in ``line``; the caller ends it with ``keepLine()`` or ``dropLine()``.
        case complete
        /// A LF without CR before it.
        case bareLF
        /// A CR without LF after it.
        case bareCR
        /// A control byte, NUL included.
        case control
        /// The line has more bytes than allowed.
        case lineTooLong
        /// The section has more bytes than allowed, line ends counted.
        case sectionTooLong
    }

    /// Kept lines one after another, without line ends, and the current line.
    private(set) var bytes: [UInt8] = []
    /// Bytes of the section so far, line ends included.
    private var sectionBytes = 0
    private var lineStart = 0
    private var sawCR = false

    /// The current line without its line end.
    var line: ArraySlice<UInt8> { bytes[lineStart...] }

    /// Reads up to the end of a line or of the input.
    mutating func read(
        _ input: Span<UInt8>, at position: inout Int, lineBytesMax: Int, sectionBytesMax: Int
    ) -> Outcome {
        if bytes.capacity == 0 { bytes.reserveCapacity(min(input.count - position, 1_024)) }
        while position < input.count {
            if sectionBytes >= sectionBytesMax { return .sectionTooLong }
            let byte = input[position]
            if sawCR {
                guard byte == 0x0a else { return .bareCR }
                step(&position)
                sawCR = false
                return .complete
            }
            if byte == 0x0d {
                step(&position)
                sawCR = true
                continue
            }
            guard HTTPGrammar.isLineByte(byte) else { return byte == 0x0a ? .bareLF : .control }
            let lineRoom = lineBytesMax - (bytes.count - lineStart)
            guard lineRoom > 0 else { return .lineTooLong }
            takeRun(input, at: &position, room: min(lineRoom, sectionBytesMax - sectionBytes))
        }
        return .unfinished
    }

    /// Keeps the complete line in ``bytes`` and begins the next.
    mutating func keepLine() {
        lineStart = bytes.count
    }

    /// Forgets the complete line and begins the next.
    mutating func dropLine() {
        bytes.removeLast(bytes.count - lineStart)
    }

    /// Restarts the section, after the empty line that may precede a request.
    mutating func restartSection() {
        self = HTTPLineReader()
    }

    /// Makes the ASCII letters of a part of the current line lower case.
    mutating func lowercase(_ range: Range<Int>) {
        for index in range where bytes[index] >= 0x41 && bytes[index] <= 0x5a { bytes[index] |= 0x20 }
    }

    private mutating func step(_ position: inout Int) {
        position += 1
        sectionBytes += 1
    }

    private mutating func takeRun(_ input: Span<UInt8>, at position: inout Int, room: Int) {
        let start = position
        let limit = start + min(room, input.count - start)
        var end = start
        while end < limit && HTTPGrammar.isLineByte(input[end]) { end += 1 }
        bytes.append(input, start..<end)
        sectionBytes += end - start
        position = end
    }
}

extension Array where Element == UInt8 {
    /// Appends a part of a span; capacity grows geometrically, so that repeated calls stay linear.
    mutating func append(_ input: Span<UInt8>, _ range: Range<Int>) {
        // An empty array would have its count written, in the storage that all empty arrays of all threads share.
        guard !range.isEmpty else { return }
        append(addingCapacity: range.count) { output in
            for index in range { output.append(input[index]) }
        }
    }
}
