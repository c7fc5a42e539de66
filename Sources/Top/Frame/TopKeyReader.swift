/// Reads keys from the bytes of a terminal (ECMA-48 control sequences, as xterm sends them).
///
/// Pure. A sequence may come in parts; one that is unknown is left out.
struct TopKeyReader {
    private var sequence: [UInt8] = []

    /// Bytes of a sequence; a longer one is none.
    private static let bytesMax = 16
    private static let escape: UInt8 = 0x1b

    /// The keys that the bytes complete.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [TopKey] { bytes.compactMap { read($0) } }

    private mutating func read(_ byte: UInt8) -> TopKey? {
        if byte == TopKeyReader.escape || sequence.count >= TopKeyReader.bytesMax {
            sequence = byte == TopKeyReader.escape ? [byte] : []
            return nil
        }
        guard !sequence.isEmpty else {
            return (0x20..<0x7f).contains(byte) ? .character(Character(Unicode.Scalar(byte))) : nil
        }
        sequence.append(byte)
        if sequence.count == 2 {
            // ESC [ begins a control sequence, ESC O a key of the application mode; anything else is no key.
            if byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") { sequence = [] }
            return nil
        }
        guard (0x40..<0x7f).contains(byte) else { return nil }
        defer { sequence = [] }
        return TopKeyReader.key(sequence[2...])
    }

    private static func key(_ rest: ArraySlice<UInt8>) -> TopKey? {
        switch String(decoding: rest, as: UTF8.self) {
        case "A": .up
        case "B": .down
        case "H", "1~", "7~": .home
        case "F", "4~", "8~": .end
        case "5~": .pageUp
        case "6~": .pageDown
        default: nil
        }
    }
}
