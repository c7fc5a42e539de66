import Core

/// The type of an argument, and the form in which a script receives it.
public enum ArgumentType: Equatable, Sendable {
    /// 1...200 of `A-Za-z0-9._~:-`; a whole number becomes its digits.
    case id
    /// An id of at most 128 bytes: the user that the call acts for.
    case user
    /// A string whose number of Unicode scalars is in this range, none of them NUL.
    case string(ClosedRange<Int>)
    /// A whole number.
    case int(ClosedRange<Int>)
    /// A finite number.
    case number(ClosedRange<Double>?)
    /// One of these words.
    case choice([String])
    /// True or false.
    case bool
    /// Any JSON of at most this many bytes and levels.
    case json(bytesMax: Int, depthMax: Int)
    /// Milliseconds since 1970, or ISO 8601 with a zone.
    case time
    /// A list of ids whose count is in this range.
    case ids(ClosedRange<Int>)

    /// The type's word in a header.
    public var word: String {
        switch self {
        case .id: "id"
        case .user: "user"
        case .string: "string"
        case .int: "int"
        case .number: "number"
        case .choice: "enum"
        case .bool: "bool"
        case .json: "json"
        case .time: "time"
        case .ids: "ids"
        }
    }

    /// The words of all types.
    static let words = ["id", "user", "string", "int", "number", "enum", "bool", "json", "time", "ids"]

    /// The most bytes an id may have.
    static let idBytesMax = Topic.idBytesMax
    /// The whole numbers that Lua and every JSON reader represent exactly.
    static let integers = -9_007_199_254_740_991...9_007_199_254_740_991

    /// The description of a valid value, which error texts put after "must be".
    public var expectation: String {
        switch self {
        case .id: "an id: a whole number, or a string of 1 to \(ArgumentType.idBytesMax) of A-Z a-z 0-9 . _ ~ : -"
        case .user: "a user: a whole number, or a string of 1 to 128 of A-Z a-z 0-9 . _ ~ : -"
        case .string(let range): "a string of \(range.lowerBound) to \(range.upperBound) characters without NUL"
        case .int(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(nil): "a number"
        case .number(let range?): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .bool: "true or false"
        case .json(let bytes, let depth): "JSON of at most \(bytes) bytes and \(depth) levels"
        case .time: "a time: milliseconds since 1970, or text such as 2026-11-21T10:20:05Z"
        case .ids(let range): "a list of \(range.lowerBound) to \(range.upperBound) ids"
        }
    }
}
