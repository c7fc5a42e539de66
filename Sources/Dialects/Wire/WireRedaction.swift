import Core

/// Replaces credentials in the text of a message by `***`, before an operator reads it.
///
/// A client shows its token in messages: natively in `authenticate`, to Phoenix in the payloads of `phx_join` and
/// `access_token`, to Socket.IO in the packet that connects. Packets that open a Socket.IO session have the ids by which
/// it can be taken over. Answers of commands may have tokens for others. So values go by the name of their member, all
/// of `authenticate` go, and whatever has the form of a token goes wherever it stands. Pure.
public enum WireRedaction {
    /// Returns at most `bytesMax` bytes of a message without credentials, and whether the message was longer.
    public static func text(_ message: [UInt8], bytesMax: Int) -> (text: [UInt8], isCut: Bool) {
        let isWhole = message.count <= bytesMax
        var members = MemberRedaction(message.prefix(bytesMax), hidesAll: namesAuthenticate(message))
        let text = TokenRedaction.text(members.redacted(), isWhole: isWhole)
        guard text.count > bytesMax || !isWhole else { return (text, false) }
        return (wholeCharacters(text.prefix(bytesMax)), true)
    }

    /// Whether a member or a word of this name stands for a credential.
    static func isSecret(_ name: some Sequence<UInt8>) -> Bool {
        let word = name.compactMap { byte in
            ASCII.isLetter(byte) ? byte | 0x20 : ASCII.isDigit(byte) ? byte : nil
        }
        if exact.contains(where: { word.elementsEqual($0.utf8) }) { return true }
        return endings.contains { word.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    private static let exact = ["authorization", "cookie", "pid", "sid"]
    private static let endings = ["token", "jwt", "apikey", "password", "secret", "credential", "credentials"]

    /// Bytes of a message in which the name of its event is looked for: those of the largest message of a client.
    private static let nameBytesMax = 65_536

    /// The event by which a client of the native dialect or of Socket.IO shows a token.
    private static func namesAuthenticate(_ message: [UInt8]) -> Bool {
        var place = 0
        let text = message.prefix(nameBytesMax)
        while let string = JSONString(in: text, from: place) {
            if string.content.elementsEqual("authenticate".utf8)
                || string.isEscaped && string.decoded.elementsEqual("authenticate".utf8)
            {
                return true
            }
            place = string.end
        }
        return false
    }

    /// Drops a character that the cut has split.
    private static func wholeCharacters(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard let lead = text.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return [] }
        let byteCount = text[lead] < 0x80 ? 1 : text[lead] < 0xE0 ? 2 : text[lead] < 0xF0 ? 3 : 4
        return Array(text.endIndex - lead >= byteCount ? text : text[..<lead])
    }
}

/// A string of a JSON text: its place, and its content as it is written.
struct JSONString {
    /// The bytes between the quotes.
    let content: ArraySlice<UInt8>
    /// The place behind the closing quote, or the end of the text.
    let end: Int
    /// Whether the closing quote is there.
    let isClosed: Bool
    /// Whether the content has escapes.
    let isEscaped: Bool

    private static let decodedBytesMax = 512
    private static let limits = JSON.Limits(depthMax: 1, elementsMax: 1)

    /// The first string at or behind a place; `nil` when there is none.
    init?(in text: ArraySlice<UInt8>, from place: Int) {
        guard let start = text[max(place, text.startIndex)...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        var index = start + 1
        var isEscaped = false
        while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
            if text[index] == UInt8(ascii: "\\") {
                isEscaped = true
                index += 1
            }
            index += 1
        }
        isClosed = index < text.endIndex
        content = text[(start + 1)..<min(index, text.endIndex)]
        end = min(index + 1, text.endIndex)
        self.isEscaped = isEscaped
    }

    /// The content without escapes; empty when it is long or malformed.
    var decoded: [UInt8] {
        guard content.count <= JSONString.decodedBytesMax else { return [] }
        guard isEscaped else { return Array(content) }
        let quoted = [UInt8(ascii: "\"")] + content + [UInt8(ascii: "\"")]
        return (try? JSON(parsing: quoted, limits: JSONString.limits))?.root.stringBytes ?? []
    }
}
