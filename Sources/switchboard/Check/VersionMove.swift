import Core
import RedisLink

/// The live processes of other versions than this binary's, and the order in which an operator replaces them.
///
/// Pure.
struct VersionMove: Sendable {
    /// The version of this binary.
    let own: String
    /// The live processes of other versions.
    let others: [NodeEntry]

    init(own: String = ProductVersion.text, _ nodes: [NodeEntry]) {
        self.own = own
        others = nodes.filter { $0.version != own }
    }

    /// The steps that are due, each a few sentences: those of an upgrade, and those of a way back.
    var steps: [String] {
        let later = others.filter { VersionNumber(own).isEarlier(than: VersionNumber($0.version)) }
        let rest = others.filter { node in !later.contains(node) }
        var steps: [String] = []
        if !rest.isEmpty {
            steps.append(
                "These processes have not version \(own) yet: \(VersionMove.text(rest)). Replace them one by one:"
                    + " workers first, then couriers, then gateways.")
        }
        if !later.isEmpty {
            steps.append(
                "These processes are of a later version than this one, \(own): \(VersionMove.text(later)). To roll back,"
                    + " replace them one by one: gateways first, then couriers, then workers.")
        }
        return steps
    }

    /// How many there are of each kind and version: `2 workers of 0.9.0`.
    private static func text(_ nodes: [NodeEntry]) -> String {
        var parts: [String] = []
        for kind in [NodeEntry.Kind.worker, .courier, .gateway] {
            let same = nodes.filter { $0.kind == kind }
            for version in Set(same.map(\.version)).sorted() {
                let count = same.count { $0.version == version }
                parts.append("\(count) \(kind.rawValue)\(count == 1 ? "" : "s") of \(version)")
            }
        }
        return parts.joined(separator: ", ")
    }
}

/// The precedence of a semantic version (semver.org, section 11).
///
/// Text that is no number counts as 0.
struct VersionNumber: Equatable {
    private let numbers: [Int]
    private let suffix: [Substring]

    init(_ text: String) {
        let plain = text.prefix { $0 != "+" }
        let parts = plain.split(separator: "-", maxSplits: 1)
        numbers = (parts.first ?? "").split(separator: ".").map { Int($0) ?? 0 }
        suffix = parts.count > 1 ? parts[1].split(separator: ".") : []
    }

    /// Whether the other version is a later one.
    func isEarlier(than other: VersionNumber) -> Bool {
        if numbers != other.numbers { return numbers.lexicographicallyPrecedes(other.numbers) }
        // A version comes after its pre-releases.
        if suffix.isEmpty || other.suffix.isEmpty { return !suffix.isEmpty && other.suffix.isEmpty }
        return suffix.lexicographicallyPrecedes(other.suffix) { left, right in
            switch (Int(left), Int(right)) {
            case (let left?, let right?): left < right
            case (.some, nil): true
            case (nil, .some): false
            case (nil, nil): left.utf8.lexicographicallyPrecedes(right.utf8)
            }
        }
    }
}
