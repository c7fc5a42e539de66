/// Finds a message's sequence number and due time in any server's envelope.
///
/// The envelope hardly changes, so the place in the last message is checked first.
struct MarkerReader {
    /// The content of a marker.
    struct Marker: Equatable {
        var sequence: Int
        var dueUs: Int
    }

    /// The index of the marker's first digit in the last message.
    private var hint = 0

    /// `"m":"` and 10 digits, a colon, 16 digits; at least the closing quote follows.
    private static let nameBytes = 5
    private static let digitsBytes = 27
    /// `"m":"` as the low five bytes of a little-endian word.
    private static let name: UInt64 = 0x22_3a22_6d22
    private static let nameMask: UInt64 = 0xff_ffff_ffff

    /// Reads the marker; `nil` when the message has none.
    @inline(__always) mutating func read(_ text: Span<UInt8>) -> Marker? {
        if let marker = MarkerReader.marker(text, at: hint) { return marker }
        return search(text)
    }

    @inline(never) private mutating func search(_ text: Span<UInt8>) -> Marker? {
        var start = MarkerReader.nameBytes
        while start + MarkerReader.digitsBytes <= text.count {
            if text[start - 1] == UInt8(ascii: "\""), let marker = MarkerReader.marker(text, at: start) {
                hint = start
                return marker
            }
            start += 1
        }
        return nil
    }

    @inline(__always) private static func marker(_ text: Span<UInt8>, at start: Int) -> Marker? {
        guard start >= nameBytes, start &+ digitsBytes <= text.count else { return nil }
        let bytes = unsafe text.bytes
        // The guard has ensured that all 32 bytes from the name on exist.
        guard unsafe word(bytes, start &- nameBytes) & nameMask == name, text[start &+ 10] == UInt8(ascii: ":"),
            let high = unsafe eightDigits(word(bytes, start)),
            let tens = digit(text[start &+ 8]), let ones = digit(text[start &+ 9]),
            let first = unsafe eightDigits(word(bytes, start &+ 11)),
            let second = unsafe eightDigits(word(bytes, start &+ 19))
        else { return nil }
        return Marker(sequence: high &* 100 &+ tens &* 10 &+ ones, dueUs: first &* 100_000_000 &+ second)
    }

    @inline(__always) private static func digit(_ byte: UInt8) -> Int? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? Int(value) : nil
    }

    /// Little-endian: the first byte is the lowest.
    ///
    /// The eight bytes must be within the text.
    @inline(__always) @unsafe private static func word(_ bytes: RawSpan, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// Eight ASCII digits at once: neighbours are joined to pairs, pairs to fours, fours to the number.
    @inline(__always) private static func eightDigits(_ word: UInt64) -> Int? {
        let digits = word ^ 0x3030_3030_3030_3030
        guard (digits &+ 0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0 == 0, digits & 0xf0f0_f0f0_f0f0_f0f0 == 0
        else { return nil }
        let pairs = (digits &* 10 &+ (digits &>> 8)) & 0x00ff_00ff_00ff_00ff
        let fours = (pairs &* 100 &+ (pairs &>> 16)) & 0x0000_ffff_0000_ffff
        return Int(truncatingIfNeeded: (fours &* 10_000 &+ (fours &>> 32)) & 0xffff_ffff)
    }
}
