import Core

/// The value of a header field to be sent: visible ASCII and inner spaces only, by construction.
///
/// It can contain no CR, LF or NUL. So a reflected value (a subprotocol, an origin, a request id) can neither end a
/// header line nor begin a second response (CVE-2022-3215, CVE-2026-28970).
public struct HTTPHeaderValue: Sendable, Equatable, ExpressibleByStringLiteral {
    /// The bytes, ready to be sent.
    public let bytes: [UInt8]

    /// Takes bytes of any origin; `nil` unless they are visible ASCII and spaces, without a space at either end.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 <= 0x7e }), bytes.first != 0x20, bytes.last != 0x20 else {
            return nil
        }
        self.bytes = bytes
    }

    /// Takes text of any origin; `nil` under the same conditions.
    public init?(_ text: String) {
        self.init(text.utf8)
    }

    /// The decimal digits of a number.
    public init(decimal number: Int) {
        var digits: [UInt8] = []
        digits.append(decimal: number)
        bytes = digits
    }

    /// Takes a literal of the source; bytes that are not allowed in a value are left out.
    public init(stringLiteral literal: StaticString) {
        var text: [UInt8] = []
        text.append(text: literal)
        bytes = text.filter { $0 >= 0x20 && $0 <= 0x7e }
    }

    // Values of most answers, made once.

    /// The type of JSON text.
    public static let json: HTTPHeaderValue = "application/json"
    /// Forbids a browser to guess another type.
    public static let noSniff: HTTPHeaderValue = "nosniff"
    /// Forbids every cache to keep the answer.
    public static let noStore: HTTPHeaderValue = "no-store"
}
