import Core

/// A change of a given argument that makes several spellings of one value the same.
public enum ArgumentFold: String, CaseIterable, Sendable {
    /// The letters A-Z become a-z.
    case lower
    /// The two ids around the only `_` are sorted by their bytes; a value with another number of `_` stays.
    case pair

    /// The value in its one spelling.
    func folded(_ text: [UInt8]) -> [UInt8] {
        switch self {
        case .lower:
            return text.map(ASCII.lowercased)
        case .pair:
            let parts = text.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[1].isEmpty, parts[1].lexicographicallyPrecedes(parts[0]) else { return text }
            return Array(parts[1] + [UInt8(ascii: "_")] + parts[0])
        }
    }
}
