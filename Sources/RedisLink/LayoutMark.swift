public import Core

/// The value of the key `#layout`: what the data are like, and whether they are being moved.
///
/// It stays when all processes have ended, so that a version which would misread the data refuses them.
public struct LayoutMark: Equatable, Sendable {
    /// The layout of the keys, or the one that they will have after the move.
    public var layout: KeyLayout
    /// Whether `move-data` runs, or was interrupted.
    public var isMoving: Bool
    /// The format of the data, see ``ProductVersion/format``.
    public var format: Int

    /// Makes the mark of data of a format.
    public init(_ layout: KeyLayout, format: Int, isMoving: Bool = false) {
        (self.layout, self.format, self.isMoving) = (layout, format, isMoving)
    }

    /// Reads ``text``; `nil` for any other text.
    public init?(_ text: some Collection<UInt8>) {
        let isMoving = text.starts(with: LayoutMark.moving)
        let words = text.dropFirst(isMoving ? LayoutMark.moving.count : 0)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard let layout = words.first.flatMap({ KeyLayout(rawValue: String(decoding: $0, as: UTF8.self)) }),
            words.count <= 2
        else { return nil }
        var format = 1
        if words.count == 2 {
            guard words[1].count <= 9, let number = ASCII.decimal(words[1]), number > 1 else { return nil }
            format = number
        }
        self.init(layout, format: format, isMoving: isMoving)
    }

    /// The layout, behind `moving:` during a move; a format other than the first follows after a space.
    public var text: [UInt8] {
        (isMoving ? LayoutMark.moving : []) + Array(layout.rawValue.utf8)
            + (format == 1 ? [] : Array(" \(format)".utf8))
    }

    /// The failure when this version would misread the data; `nil` when it would not.
    public func otherFormat(than own: Int) -> RedisFailure? {
        guard format != own else { return nil }
        let text =
            "the data here have format \(format), and this is version \(ProductVersion.text) with format \(own):"
            + " run \(format > own ? "a later" : "an earlier") version, which keeps this format; the changelog names it"
        return RedisFailure(.otherFormat, text: text)
    }

    private static let moving = Array("moving:".utf8)
}
