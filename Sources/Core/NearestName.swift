/// Finds the valid name that a mistyped one most likely stands for.
public enum NearestName {
    /// Longer input is not compared: it is no typing mistake, and comparison costs the product of the lengths.
    private static let bytesMax = 64

    /// The candidate with the fewest edits from `name`, the earlier of equals.
    ///
    /// `nil` when none is near enough, that is within a third of the longer name's bytes, and at least two edits.
    public static func among(_ candidates: [String], to name: String) -> String? {
        let typed = Array(name.lowercased().utf8)
        guard !typed.isEmpty, typed.count <= bytesMax else { return nil }
        var best: (name: String, edits: Int)?
        for candidate in candidates {
            let bytes = Array(candidate.lowercased().utf8)
            let edits = distance(typed, bytes)
            let allowed = max(2, max(typed.count, bytes.count) / 3)
            guard edits <= allowed, edits < max(typed.count, bytes.count) else { continue }
            if edits < best?.edits ?? Int.max { best = (candidate, edits) }
        }
        if let best { return best.name }
        // A shortened name ("cert" for "tls-cert") is many edits away and still plain.
        let longer = candidates.filter { typed.count >= 3 && $0.lowercased().contains(name.lowercased()) }
        return longer.count == 1 ? longer.first : nil
    }

    /// `; did you mean X?`, or nothing.
    public static func hint(_ candidates: [String], to name: String, prefix: String = "") -> String {
        guard let nearest = among(candidates, to: name) else { return "" }
        return "; did you mean " + prefix + nearest + "?"
    }

    /// The number of edits that turn one name into the other (optimal string alignment).
    ///
    /// Edits are insertions, deletions, substitutions and swaps of neighbours. *Complexity*: the product of the
    /// lengths.
    public static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var edits = min(last[column + 1] + 1, current[column] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    edits = min(edits, beforeLast[column - 1] + 1)
                }
                current.append(edits)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
