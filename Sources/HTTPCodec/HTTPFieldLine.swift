import Core

extension HTTPLineReader {
    /// The kind of lines being read; the raw value begins the messages about them.
    enum Section: String {
        case requestLine = "The request line"
        case header = "Header line"
        case chunk = "A chunk size line"
        case trailer = "Trailer line"
    }

    /// Turns an outcome into a failure that names the line; `false` when the input is used up, `true` for a line.
    ///
    /// - Parameter number: The line's number from 1 in its section; 0 where lines are not numbered.
    static func isComplete(
        _ outcome: Outcome, _ section: Section, number: Int, limits: HTTPLimits
    ) throws(HTTPFailure) -> Bool {
        switch outcome {
        case .unfinished: return false
        case .complete: return true
        default: throw failure(outcome, section, number: number, limits: limits)
        }
    }

    private static func failure(
        _ outcome: Outcome, _ section: Section, number: Int, limits: HTTPLimits
    ) -> HTTPFailure {
        let place = number == 0 ? section.rawValue : "\(section.rawValue) \(number)"
        switch outcome {
        case .unfinished, .complete: return .badRequest("\(place) is incomplete")
        case .bareLF: return .badRequest("\(place) ends with LF alone; lines end with CR LF")
        case .bareCR: return .badRequest("\(place) has a CR that is not followed by LF")
        case .control: return .badRequest("\(place) has a control byte")
        case .lineTooLong where section == .requestLine:
            return .tooLarge(414, "The request line must not exceed \(limits.requestLineBytesMax) bytes")
        case .lineTooLong: return .badRequest("\(place) is too long")
        case .sectionTooLong where section == .trailer:
            return .tooLarge(431, "The trailers must not exceed \(limits.headBytesMax) bytes")
        case .sectionTooLong:
            return .tooLarge(431, "The request head must not exceed \(limits.headBytesMax) bytes")
        }
    }

    /// Checks the current line as a field line (RFC 9112 section 5) and returns the places of its two parts.
    ///
    /// The name is made lower case in place. Blanks before the colon and folded lines are refused, as RFC 9112 sections
    /// 5.1 and 5.2 demand of servers. A tab is refused in the two fields that delimit the body.
    mutating func fieldPlace(_ section: Section, number: Int) throws(HTTPFailure) -> HTTPHeaders.Place {
        let place = try checkedPlace(section, number: number)
        lowercase(place.name)
        return place
    }

    /// The check alone: its slices of the buffer must be released before a write to the buffer, or it is copied.
    private func checkedPlace(_ section: Section, number: Int) throws(HTTPFailure) -> HTTPHeaders.Place {
        func problem(_ text: String) -> HTTPFailure { .badRequest("\(section.rawValue) \(number) \(text)") }
        if let first = line.first, HTTPGrammar.isBlank(first) {
            throw problem("begins with a blank; folded headers are not allowed")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw problem("has no colon")
        }
        let name = line[line.startIndex..<colon]
        if let last = name.last, HTTPGrammar.isBlank(last) {
            throw problem("has a space before the colon")
        }
        guard !name.isEmpty else { throw problem("has no name before the colon") }
        guard HTTPGrammar.isToken(name) else {
            throw problem("has a character in its name that no name may have")
        }
        let rawValue = line[line.index(after: colon)...]
        let delimits =
            ASCII.equalIgnoringCase(name, "content-length".utf8)
            || ASCII.equalIgnoringCase(name, "transfer-encoding".utf8)
        if delimits && section == .trailer {
            throw problem("is Content-Length or Transfer-Encoding, which cannot be a trailer")
        }
        if delimits && rawValue.contains(0x09) { throw problem("has a tab in its value") }
        let value = HTTPGrammar.trimmed(rawValue)
        return HTTPHeaders.Place(
            name: name.startIndex..<name.endIndex, value: value.startIndex..<value.endIndex)
    }
}
