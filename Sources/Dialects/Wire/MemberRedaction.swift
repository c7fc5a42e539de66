import Core

/// Replaces the values of members whose names stand for credentials.
///
/// Reads JSON wherever it stands in a text: behind the number of a Socket.IO packet, or in the record of an event
/// stream.
struct MemberRedaction {
    private let text: ArraySlice<UInt8>
    /// Whether every string goes but those that name the event.
    private let hidesAll: Bool
    private var made: [UInt8] = []
    private var depth = 0
    /// The depth of the object or array all of whose values go.
    private var hiddenDepth: Int?
    /// Whether the value of a member with the name of a credential comes next.
    private var isSecretNext = false
    /// Whether the value of a member that names the event comes next.
    private var isNameNext = false

    private static let kept = ["event", "ref", "topic"]

    init(_ text: ArraySlice<UInt8>, hidesAll: Bool) {
        self.text = text
        self.hidesAll = hidesAll
    }

    /// The text with `***` in place of the values.
    mutating func redacted() -> [UInt8] {
        made.reserveCapacity(text.count)
        var place = text.startIndex
        while place < text.endIndex { place = take(place) }
        return made
    }

    /// Takes what stands at a place; returns the place behind it.
    private mutating func take(_ place: Int) -> Int {
        let byte = text[place]
        switch byte {
        case UInt8(ascii: "\""):
            guard let string = JSONString(in: text, from: place) else { return text.endIndex }
            take(string, raw: text[place..<string.end])
            return string.end
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            if isSecretNext, hiddenDepth == nil { hiddenDepth = depth }
            (isSecretNext, isNameNext) = (false, false)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if hiddenDepth == depth { hiddenDepth = nil }
            depth -= 1
            isSecretNext = false
        case UInt8(ascii: ","):
            (isSecretNext, isNameNext) = (false, false)
        default:
            if isSecretNext || hiddenDepth != nil, MemberRedaction.isWord(byte) {
                isSecretNext = false
                made += "***".utf8
                return text[place...].firstIndex { !MemberRedaction.isWord($0) } ?? text.endIndex
            }
        }
        made.append(byte)
        return place + 1
    }

    private mutating func take(_ string: JSONString, raw: ArraySlice<UInt8>) {
        if string.isClosed, text[string.end...].first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: ":") {
            let name = string.decoded
            isSecretNext = WireRedaction.isSecret(name)
            isNameNext = MemberRedaction.kept.contains { name.elementsEqual($0.utf8) }
            made += raw
            return
        }
        let isOfAuthentication = hidesAll && !isNameNext && !string.decoded.elementsEqual("authenticate".utf8)
        if isSecretNext || hiddenDepth != nil || isOfAuthentication { made += "\"***\"".utf8 } else { made += raw }
        (isSecretNext, isNameNext) = (false, false)
    }

    /// Whether a byte belongs to a number or a literal.
    private static func isWord(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: ".")
    }
}
