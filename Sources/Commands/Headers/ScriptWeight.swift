import Core

/// The time that Redis needs for one call of a script at the script's limits: `@weight 300`.
///
/// Budgets are charged in weights, so that a caller pays for the cost to Redis and not for each message.
public enum ScriptWeight {
    /// The range of a declared weight, microseconds.
    public static let range = 1...1_000_000
    /// The weight of a script whose header declares none, microseconds.
    public static let assumed = 1_000

    /// Reads a number of microseconds.
    static func read(_ text: String) throws(HeaderFault) -> Int {
        guard let weight = ASCII.decimal(Array(text.utf8)), range.contains(weight) else {
            throw HeaderFault(
                "expected the microseconds that Redis takes at the script's limits, \(range.lowerBound) to "
                    + "\(range.upperBound), e.g. 300")
        }
        return weight
    }
}
