/// A topic with parts that are filled in: `session:{id}`, `user:{sub}`.
public struct TopicTemplate: Hashable, Sendable, CustomStringConvertible {
    private enum Piece: Hashable, Sendable {
        case text([UInt8])
        case argument(String)
    }

    /// The argument that stands for the client's user.
    public static let user = "sub"

    /// The text it was read from.
    public let description: String
    /// The part before the first colon, which has no arguments.
    public let namespace: String
    private let pieces: [Piece]

    /// Reads a template: a topic of which parts of the id are `{arguments}`.
    public init?(_ text: String) {
        var pieces: [Piece] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            guard let open = rest.firstIndex(of: UInt8(ascii: "{")) else {
                pieces.append(.text(Array(rest)))
                break
            }
            guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > open,
                let name = TopicTemplate.argument(rest[(open + 1)..<close])
            else { return nil }
            if open > rest.startIndex { pieces.append(.text(Array(rest[..<open]))) }
            pieces.append(.argument(name))
            rest = rest[(close + 1)...]
        }
        self.pieces = pieces
        description = text
        namespace = String(text.prefix { $0 != ":" })
        // The namespace decides the policy, so a client may never choose it.
        guard case .text(let head)? = pieces.first, head.contains(UInt8(ascii: ":")) else { return nil }
        guard topic(Dictionary(arguments.map { ($0, [UInt8(ascii: "x")]) }) { first, _ in first }) != nil else {
            return nil
        }
    }

    /// The name of an argument: 1 to 32 ASCII letters and digits, a letter first.
    static func argument(_ name: ArraySlice<UInt8>) -> String? {
        guard let first = name.first, ASCII.isLetter(first), name.count <= 32,
            name.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) })
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// The names of its arguments.
    public var arguments: [String] {
        pieces.compactMap { if case .argument(let name) = $0 { name } else { nil } }
    }

    /// Whether it needs to know the client's user.
    public var needsUser: Bool { arguments.contains(TopicTemplate.user) }

    /// The topic with these values; `nil` when one is missing, or the result is no topic.
    public func topic(_ values: [String: [UInt8]]) -> Topic? {
        var bytes: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): bytes += text
            case .argument(let name):
                guard let value = values[name] else { return nil }
                bytes += value
            }
        }
        return Topic(bytes)
    }
}
