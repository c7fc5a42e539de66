import Core

/// How long Redis takes for one call of a script at the script's limits: `@weight 300`.
///
/// Budgets are paid in weights, so that a caller pays for what a call costs Redis, not for a message.
public enum ScriptWeight {
    /// What may be declared, microseconds.
    public static let range = 1...1_000_000
    /// What a script weighs whose header does not say, microseconds.
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
