/// A page of a search through the names of all keys: a SCAN and its reply.
public struct KeyPage: Sendable {
    /// The cursor of the first page.
    public static let firstCursor = Array("0".utf8)

    /// The cursor of the next page.
    public let cursor: [UInt8]
    /// The names on this page, some of them perhaps twice.
    public let names: [[UInt8]]

    /// Whether the search is complete.
    public var isLast: Bool { cursor == KeyPage.firstCursor }

    /// Reads a reply; `nil` when it is not that of a SCAN.
    public init?(_ reply: RESPValue) {
        guard let fields = reply.elements, fields.count == 2, let cursor = fields[0].bytes,
            let names = fields[1].elements
        else { return nil }
        (self.cursor, self.names) = (cursor, names.compactMap(\.bytes))
    }

    /// The call for the page at a cursor of about `count` keys, of which those that match are returned.
    public static func call(at cursor: [UInt8], matching pattern: [UInt8]? = nil, count: Int) -> RedisCall {
        var call = RedisCall("SCAN", cursor)
        if let pattern {
            call.append("MATCH")
            call.append(pattern)
        }
        call.append("COUNT")
        call.append(decimal: count)
        return call
    }
}
