/// UTF-8 validation, incremental and whole.
///
/// A byte-wise automaton after the table of RFC 3629 section 4: it knows at each byte which bytes may follow. So a text
/// is refused at its first impossible byte, across any split (RFC 6455 section 8.1, failing fast).
public struct UTF8Text: Sendable {
    /// Continuation bytes still expected, 0...3.
    private var due: UInt8 = 0
    /// The range the next continuation byte must lie in; narrower after E0, ED, F0, F4.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xbf

    /// A validator at the start of a text.
    public init() {}

    /// Takes one byte; false when no continuation can make the text valid.
    public mutating func accept(_ byte: UInt8) -> Bool {
        if due > 0 {
            guard byte >= low && byte <= high else { return false }
            due &-= 1
            low = 0x80
            high = 0xbf
            return true
        }
        switch byte {
        case 0...0x7f: return true
        case 0xc2...0xdf: due = 1
        case 0xe0: (due, low) = (2, 0xa0)
        case 0xed: (due, high) = (2, 0x9f)
        case 0xe1...0xef: due = 2
        case 0xf0: (due, low) = (3, 0x90)
        case 0xf1...0xf3: due = 3
        case 0xf4: (due, high) = (3, 0x8f)
        default: return false
        }
        return true
    }

    /// Whether the text may end here: no code point is unfinished.
    public var isComplete: Bool { due == 0 }

    /// Takes a run of bytes; false at the first impossible one.
    ///
    /// *Complexity*: linear; ASCII runs go 32 bytes a step.
    public mutating func accept(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            while due == 0 && index &+ 32 <= count {
                // The range is checked once per step, so the compiler reads and merges the bytes as vectors.
                let step = bytes.extracting(index..<(index &+ 32))
                var merged: UInt8 = 0
                for offset in 0..<32 { merged |= step[offset] }
                if merged >= 0x80 { break }
                index &+= 32
            }
            // The end of an ASCII run, or a step that holds other code points.
            let end = min(index &+ 32, count)
            while index < end {
                guard accept(bytes[index]) else { return false }
                index &+= 1
            }
        }
        return true
    }

    /// Whether the bytes are one whole valid text.
    public static func isValid(_ bytes: [UInt8]) -> Bool {
        var text = UTF8Text()
        return text.accept(bytes.span) && text.isComplete
    }
}
