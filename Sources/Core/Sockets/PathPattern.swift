/// The paths of a kind of WebSocket: `/dj`, or `/shops/{shopId}/dj` with parts that the client chooses.
public struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// One part between slashes.
    enum Segment: Hashable, Sendable {
        case word([UInt8])
        case argument(String)
    }

    /// The text it was read from.
    public let description: String
    let segments: [Segment]

    /// The most parts that a pattern may have.
    public static let segmentsMax = 8
    /// The most bytes of a pattern.
    public static let bytesMax = 128

    /// Reads a pattern: a word first, then words of `A-Z a-z 0-9 . _ ~ -` and `{arguments}`, no two of one name.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= PathPattern.bytesMax else { return nil }
        var segments: [Segment] = []
        for piece in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PathPattern.segment(piece) else { return nil }
            segments.append(segment)
        }
        guard case .word? = segments.first, segments.count <= PathPattern.segmentsMax else { return nil }
        self.segments = segments
        description = text
        guard Set(arguments).count == arguments.count else { return nil }
    }

    private static func segment(_ piece: ArraySlice<UInt8>) -> Segment? {
        if piece.first == UInt8(ascii: "{"), piece.last == UInt8(ascii: "}") {
            return TopicTemplate.argument(piece.dropFirst().dropLast()).map { .argument($0) }
        }
        let isWord = piece.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || [0x2d, 0x2e, 0x5f, 0x7e].contains($0)
        }
        let isDots = piece.elementsEqual(".".utf8) || piece.elementsEqual("..".utf8)
        return isWord && !isDots && !piece.isEmpty ? .word(Array(piece)) : nil
    }

    /// The names of the parts that a client chooses, in order.
    public var arguments: [String] {
        segments.compactMap { if case .argument(let name) = $0 { name } else { nil } }
    }

    /// Whether both accept the same paths, regardless of the names of their arguments.
    public func isAlike(_ other: PathPattern) -> Bool {
        guard segments.count == other.segments.count else { return false }
        return zip(segments, other.segments).allSatisfy { pair in
            switch pair {
            case (.argument, .argument): true
            case (.word(let left), .word(let right)): left == right
            default: false
            }
        }
    }

    /// Whether it is matched before the other: the first part that is a word in only one of them decides.
    public func goesBefore(_ other: PathPattern) -> Bool {
        for (mine, theirs) in zip(segments, other.segments) {
            switch (mine, theirs) {
            case (.word, .argument): return true
            case (.argument, .word): return false
            default: continue
            }
        }
        return false
    }

    /// The value of each argument in a path; `nil` for another path.
    ///
    /// The path's escapes are decoded. A slash at its end is ignored.
    public func values(in path: [[UInt8]]) -> [String: [UInt8]]? {
        let parts = path.count > 1 && path.last?.isEmpty == true ? path.dropLast() : path[...]
        guard parts.count == segments.count else { return nil }
        var values: [String: [UInt8]] = [:]
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .word(let word): guard word == part else { return nil }
            case .argument(let name):
                guard !part.isEmpty else { return nil }
                values[name] = part
            }
        }
        return values
    }
}
