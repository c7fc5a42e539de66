/// The Phoenix serializer of a connection (the query's `vsn`).
public enum PhoenixVersion: String, CaseIterable, Sendable {
    /// JSON objects in text frames.
    case v1
    /// JSON arrays in text frames, and broadcasts in binary frames.
    case v2

    /// Reads `vsn`: absent or `1.0.x` is ``v1``, `2.0.x` is ``v2``; `nil` for anything else.
    public init?(vsn: [UInt8]?) {
        guard let vsn else {
            self = .v1
            return
        }
        let parts = vsn.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].elementsEqual([UInt8(ascii: "0")]), Self.isNumber(parts[2]) else { return nil }
        switch Array(parts[0]) {
        case [UInt8(ascii: "1")]: self = .v1
        case [UInt8(ascii: "2")]: self = .v2
        default: return nil
        }
    }

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        (1...4).contains(text.count) && text.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }
}
